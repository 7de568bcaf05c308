/* 2 x 2 mesh whose processors differ in cost. */
ArcName mesh_2x2_het
Topology Mesh
TotalProcNum 4
RowNum 2
ColumnNum 2
LayerNum 1
ProcCost 0-3 1,2,3,4
CommCost 0-3 2
FlitSize 32
