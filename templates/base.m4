m4_divert(-1)
m4_changequote([[, ]])
# The first file of every m4 run: quotes, and what all templates share.
#
# gen_banner
# ----------
# First line of every emitted file. No date, host or folder.
m4_define([[gen_banner]],
[[/* Generated from gen_input by kbgen gen_version; edit that file, not this. */]])
m4_changecom()
m4_divert(0)m4_dnl
