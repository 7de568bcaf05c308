// What one qubit is measured as decides which of two pairs is entangled.
OPENQASM 3.0;
include "stdgates.inc";
qubit[4] q;
bit[4] c;
h q[0];
h q[1];
cx q[0], q[2];
c[1] = measure q[1];
if (c[1]) {
  cx q[0], q[3];
} else {
  cx q[2], q[3];
  rz(pi/4) q[3];
}
cx q[0], q[3];
c[0] = measure q[0];
c[2] = measure q[2];
c[3] = measure q[3];
