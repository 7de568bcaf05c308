/* 4 x 4 mesh whose columns differ in cost. */
ArcName mesh_4x4_het
Topology Mesh
TotalProcNum 16
RowNum 4
ColumnNum 4
LayerNum 1
ProcCost 0-15 1,2,3,4,1,2,3,4,1,2,3,4,1,2,3,4
CommCost 0-3 2
FlitSize 32
