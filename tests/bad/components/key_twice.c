/* kernbench component: memory key_twice
 * banks  integer  4  1..8  banks
 * banks  integer  4  1..8  banks
 */
