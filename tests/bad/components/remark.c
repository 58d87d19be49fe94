/* kernbench component: memory remark
 * This memory has banks.
 */
