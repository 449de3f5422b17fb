; kernel k0
; %s0 size R
; %p1 input f16[R, 100]  array 1
; %p2 output i8[R, 100]  array 2

define internal void @k0_p0.body(i64 %begin, i64 %end, i64 %s0, ptr noalias readonly %p1, ptr noalias %p2, ptr noalias %scratch) #0 {
entry:
  %dummy = alloca i64, align 64
  %l0 = alloca float, align 64
  %l0.lanes = alloca <16 x float>, align 64
  %tail.v16i16 = alloca <16 x i16>, align 64
  %tail.v16i8 = alloca <16 x i8>, align 64
  %v1 = insertelement <16 x float> poison, float 0.0, i64 0
  %v2 = shufflevector <16 x float> %v1, <16 x float> poison, <16 x i32> zeroinitializer
  %v14 = or <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, zeroinitializer
  %v53 = insertelement <16 x float> poison, float 127.0, i64 0
  %v54 = shufflevector <16 x float> %v53, <16 x float> poison, <16 x i32> zeroinitializer
  %v57 = insertelement <16 x float> poison, float -128.0, i64 0
  %v58 = shufflevector <16 x float> %v57, <16 x float> poison, <16 x i32> zeroinitializer
  %v67 = insertelement <16 x i8> poison, i8 0, i64 0
  %v68 = shufflevector <16 x i8> %v67, <16 x i8> poison, <16 x i32> zeroinitializer
  ; loop %i0 < R
  %v97 = icmp slt i64 %begin, %end
  br i1 %v97, label %pre1, label %exit1
pre1:
  br label %loop1
loop1:
  %i0.1 = phi i64 [ %begin, %pre1 ], [ %i0.1.next, %next1 ]
  store float 0.0, ptr %l0
  store <16 x float> %v2, ptr %l0.lanes
  %v3 = mul i64 %i0.1, 100
  %v4 = getelementptr i16, ptr %p1, i64 %v3
  ; vector loop %i1 < 100, 16 lanes
  br label %pre2
pre2:
  br label %main2
main2:
  br label %loop2
loop2:
  %i1.loop2 = phi i64 [ 0, %main2 ], [ %i1.loop2.next, %loopnext2 ]
  %v5 = getelementptr i16, ptr %v4, i64 %i1.loop2
  %v6 = load <16 x i16>, ptr %v5, align 2
  %v7 = bitcast <16 x i16> %v6 to <16 x half>
  %v8 = fpext <16 x half> %v7 to <16 x float>
  %v9 = call <16 x float> @llvm.arithmetic.fence.v16f32(<16 x float> %v8)
  %v10 = load <16 x float>, ptr %l0.lanes
  %v11 = fadd <16 x float> %v10, %v9
  store <16 x float> %v11, ptr %l0.lanes
  br label %loopnext2
loopnext2:
  %i1.loop2.next = add nsw i64 %i1.loop2, 16
  %i1.loop2.more = icmp slt i64 %i1.loop2.next, 96
  br i1 %i1.loop2.more, label %loop2, label %rest2
rest2:
  %v12 = sub i64 100, 96
  %v13 = trunc i64 %v12 to i32
  %v15 = insertelement <16 x i32> poison, i32 %v13, i64 0
  %v16 = shufflevector <16 x i32> %v15, <16 x i32> poison, <16 x i32> zeroinitializer
  %v17 = icmp ult <16 x i32> %v14, %v16
  store <16 x i16> zeroinitializer, ptr %tail.v16i16
  %v18 = getelementptr i16, ptr %v4, i64 96
  %v19 = mul i64 %v12, 2
  call void @llvm.memcpy.p0.p0.i64(ptr %tail.v16i16, ptr %v18, i64 %v19, i1 false)
  %v20 = load <16 x i16>, ptr %tail.v16i16
  %v21 = bitcast <16 x i16> %v20 to <16 x half>
  %v22 = fpext <16 x half> %v21 to <16 x float>
  %v23 = call <16 x float> @llvm.arithmetic.fence.v16f32(<16 x float> %v22)
  %v24 = load <16 x float>, ptr %l0.lanes
  %v25 = fadd <16 x float> %v24, %v23
  %v26 = load <16 x float>, ptr %l0.lanes
  %v27 = select <16 x i1> %v17, <16 x float> %v25, <16 x float> %v26
  store <16 x float> %v27, ptr %l0.lanes
  br label %exit2
exit2:
  %v28 = load <16 x float>, ptr %l0.lanes
  %v29 = shufflevector <16 x float> %v28, <16 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %v30 = shufflevector <16 x float> %v28, <16 x float> poison, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %v31 = fadd <8 x float> %v29, %v30
  %v32 = shufflevector <8 x float> %v31, <8 x float> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %v33 = shufflevector <8 x float> %v31, <8 x float> poison, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %v34 = fadd <4 x float> %v32, %v33
  %v35 = shufflevector <4 x float> %v34, <4 x float> poison, <2 x i32> <i32 0, i32 1>
  %v36 = shufflevector <4 x float> %v34, <4 x float> poison, <2 x i32> <i32 2, i32 3>
  %v37 = fadd <2 x float> %v35, %v36
  %v38 = extractelement <2 x float> %v37, i64 0
  %v39 = extractelement <2 x float> %v37, i64 1
  %v40 = fadd float %v38, %v39
  store float %v40, ptr %l0
  %v41 = insertelement <16 x float> poison, float %v40, i64 0
  %v42 = shufflevector <16 x float> %v41, <16 x float> poison, <16 x i32> zeroinitializer
  store <16 x float> %v42, ptr %l0.lanes
  %v43 = load float, ptr %l0
  %v44 = fmul float %v43, 0x3F847AE140000000
  %v50 = insertelement <16 x float> poison, float %v44, i64 0
  %v51 = shufflevector <16 x float> %v50, <16 x float> poison, <16 x i32> zeroinitializer
  %v70 = getelementptr i8, ptr %p2, i64 %v3
  ; vector loop %i1 < 100, 16 lanes
  br label %pre3
pre3:
  br label %main3
main3:
  br label %loop3
loop3:
  %i1.loop3 = phi i64 [ 0, %main3 ], [ %i1.loop3.next, %loopnext3 ]
  %v45 = getelementptr i16, ptr %v4, i64 %i1.loop3
  %v46 = load <16 x i16>, ptr %v45, align 2
  %v47 = bitcast <16 x i16> %v46 to <16 x half>
  %v48 = fpext <16 x half> %v47 to <16 x float>
  %v49 = call <16 x float> @llvm.arithmetic.fence.v16f32(<16 x float> %v48)
  %v52 = fsub <16 x float> %v49, %v51
  %v55 = fmul <16 x float> %v52, %v54
  %v56 = call <16 x float> @llvm.rint.v16f32(<16 x float> %v55)
  %v59 = fcmp ogt <16 x float> %v56, %v58
  %v60 = select <16 x i1> %v59, <16 x float> %v56, <16 x float> %v58
  %v61 = fcmp olt <16 x float> %v60, %v54
  %v62 = select <16 x i1> %v61, <16 x float> %v60, <16 x float> %v54
  %v63 = fptosi <16 x float> %v62 to <16 x i32>
  %v64 = freeze <16 x i32> %v63
  %v65 = trunc <16 x i32> %v64 to <16 x i8>
  %v66 = fcmp oeq <16 x float> %v56, %v56
  %v69 = select <16 x i1> %v66, <16 x i8> %v65, <16 x i8> %v68
  %v71 = getelementptr i8, ptr %v70, i64 %i1.loop3
  store <16 x i8> %v69, ptr %v71, align 1
  br label %loopnext3
loopnext3:
  %i1.loop3.next = add nsw i64 %i1.loop3, 16
  %i1.loop3.more = icmp slt i64 %i1.loop3.next, 96
  br i1 %i1.loop3.more, label %loop3, label %rest3
rest3:
  %v72 = sub i64 100, 96
  %v73 = trunc i64 %v72 to i32
  %v74 = insertelement <16 x i32> poison, i32 %v73, i64 0
  %v75 = shufflevector <16 x i32> %v74, <16 x i32> poison, <16 x i32> zeroinitializer
  %v76 = icmp ult <16 x i32> %v14, %v75
  store <16 x i16> zeroinitializer, ptr %tail.v16i16
  %v77 = getelementptr i16, ptr %v4, i64 96
  %v78 = mul i64 %v72, 2
  call void @llvm.memcpy.p0.p0.i64(ptr %tail.v16i16, ptr %v77, i64 %v78, i1 false)
  %v79 = load <16 x i16>, ptr %tail.v16i16
  %v80 = bitcast <16 x i16> %v79 to <16 x half>
  %v81 = fpext <16 x half> %v80 to <16 x float>
  %v82 = call <16 x float> @llvm.arithmetic.fence.v16f32(<16 x float> %v81)
  %v83 = fsub <16 x float> %v82, %v51
  %v84 = fmul <16 x float> %v83, %v54
  %v85 = call <16 x float> @llvm.rint.v16f32(<16 x float> %v84)
  %v86 = fcmp ogt <16 x float> %v85, %v58
  %v87 = select <16 x i1> %v86, <16 x float> %v85, <16 x float> %v58
  %v88 = fcmp olt <16 x float> %v87, %v54
  %v89 = select <16 x i1> %v88, <16 x float> %v87, <16 x float> %v54
  %v90 = fptosi <16 x float> %v89 to <16 x i32>
  %v91 = freeze <16 x i32> %v90
  %v92 = trunc <16 x i32> %v91 to <16 x i8>
  %v93 = fcmp oeq <16 x float> %v85, %v85
  %v94 = select <16 x i1> %v93, <16 x i8> %v92, <16 x i8> %v68
  store <16 x i8> %v94, ptr %tail.v16i8
  %v95 = getelementptr i8, ptr %v70, i64 96
  %v96 = mul i64 %v72, 1
  call void @llvm.memcpy.p0.p0.i64(ptr %v95, ptr %tail.v16i8, i64 %v96, i1 false)
  br label %exit3
exit3:
  br label %next1
next1:
  %i0.1.next = add nsw i64 %i0.1, 1
  %i0.1.more = icmp slt i64 %i0.1.next, %end
  br i1 %i0.1.more, label %loop1, label %exit1
exit1:
  ret void
}

define void @k0_p0(i64 %begin, i64 %end, ptr %arrays, ptr %sizes, ptr %scratch) #0 {
  %a0 = getelementptr i64, ptr %sizes, i64 0
  %s0 = load i64, ptr %a0
  %a1 = getelementptr ptr, ptr %arrays, i64 0
  %p1 = load ptr, ptr %a1
  %a2 = getelementptr ptr, ptr %arrays, i64 1
  %p2 = load ptr, ptr %a2
  call void @k0_p0.body(i64 %begin, i64 %end, i64 %s0, ptr %p1, ptr %p2, ptr %scratch)
  ret void
}

declare <16 x float> @llvm.arithmetic.fence.v16f32(<16 x float>)
declare <16 x float> @llvm.rint.v16f32(<16 x float>)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)

attributes #0 = { nounwind "prefer-vector-width"="256" "min-legal-vector-width"="256" }
!0 = !{i32 1}
