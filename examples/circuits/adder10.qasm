// a + b of two four-bit numbers: a ripple-carry adder whose gates on three qubits are defined here.
OPENQASM 2.0;
include "qelib1.inc";
gate toffoli a,b,c { h c; cx b,c; tdg c; cx a,c; t c; cx b,c; tdg c; cx a,c; t b; t c; h c; cx a,b; t a; tdg b; cx a,b; }
gate majority a,b,c { cx c,b; cx c,a; toffoli a,b,c; }
gate unmajority a,b,c { toffoli a,b,c; cx c,a; cx a,b; }
qreg carry[2];
qreg a[4];
qreg b[4];
creg sum[5];
x a[0];
x a[1];
x b[0];
x b[2];
majority carry[0],b[0],a[0];
majority a[0],b[1],a[1];
majority a[1],b[2],a[2];
majority a[2],b[3],a[3];
cx a[3],carry[1];
unmajority a[2],b[3],a[3];
unmajority a[1],b[2],a[2];
unmajority a[0],b[1],a[1];
unmajority carry[0],b[0],a[0];
measure b[0] -> sum[0];
measure b[1] -> sum[1];
measure b[2] -> sum[2];
measure b[3] -> sum[3];
measure carry[1] -> sum[4];
