/* kernbench component: memory no_range
 * banks  integer  4  8  banks
 */
