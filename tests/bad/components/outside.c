/* kernbench component: memory outside
 * banks  integer  9  1..8  banks
 */
