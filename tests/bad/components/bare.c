struct bare { int x; };
