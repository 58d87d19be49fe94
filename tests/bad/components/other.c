/* kernbench component: memory another */
