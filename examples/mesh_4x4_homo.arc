/* 4 x 4 mesh of equal processors. */
ArcName mesh_4x4_homo
Topology Mesh
TotalProcNum 16
RowNum 4
ColumnNum 4
LayerNum 1
ProcCost 0-15 1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1
CommCost 0-3 2
FlitSize 32
