/* kernbench component: memroy kindless */
