; kernel k0
; %s0 size R
; %p1 input f16[R, 100]  array 1
; %p2 output i8[R, 100]  array 2

define internal void @k0_p0.body(i64 %begin, i64 %end, i64 %s0, ptr noalias readonly %p1, ptr noalias %p2, ptr noalias %scratch) #0 {
entry:
  %dummy = alloca i64, align 64
  %l0 = alloca float, align 64
  %l0.lanes = alloca <16 x float>, align 64
  %v1 = insertelement <16 x float> poison, float 0.0, i64 0
  %v2 = shufflevector <16 x float> %v1, <16 x float> poison, <16 x i32> zeroinitializer
  %v14 = or <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, zeroinitializer
  %v55 = insertelement <16 x float> poison, float 127.0, i64 0
  %v56 = shufflevector <16 x float> %v55, <16 x float> poison, <16 x i32> zeroinitializer
  %v59 = insertelement <16 x float> poison, float -128.0, i64 0
  %v60 = shufflevector <16 x float> %v59, <16 x float> poison, <16 x i32> zeroinitializer
  %v69 = insertelement <16 x i8> poison, i8 0, i64 0
  %v70 = shufflevector <16 x i8> %v69, <16 x i8> poison, <16 x i32> zeroinitializer
  ; loop %i0 < R
  %v102 = icmp slt i64 %begin, %end
  br i1 %v102, label %pre1, label %exit1
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
  %v18 = getelementptr i16, ptr %v4, i64 96
  %v19 = getelementptr i16, ptr %v18, i64 0
  %v20 = load <4 x i16>, ptr %v19, align 2
  %v21 = shufflevector <4 x i16> %v20, <4 x i16> poison, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison>
  %v22 = shufflevector <16 x i16> zeroinitializer, <16 x i16> %v21, <16 x i32> <i32 16, i32 17, i32 18, i32 19, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %v23 = bitcast <16 x i16> %v22 to <16 x half>
  %v24 = fpext <16 x half> %v23 to <16 x float>
  %v25 = call <16 x float> @llvm.arithmetic.fence.v16f32(<16 x float> %v24)
  %v26 = load <16 x float>, ptr %l0.lanes
  %v27 = fadd <16 x float> %v26, %v25
  %v28 = load <16 x float>, ptr %l0.lanes
  %v29 = select <16 x i1> %v17, <16 x float> %v27, <16 x float> %v28
  store <16 x float> %v29, ptr %l0.lanes
  br label %exit2
exit2:
  %v30 = load <16 x float>, ptr %l0.lanes
  %v31 = shufflevector <16 x float> %v30, <16 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %v32 = shufflevector <16 x float> %v30, <16 x float> poison, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %v33 = fadd <8 x float> %v31, %v32
  %v34 = shufflevector <8 x float> %v33, <8 x float> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %v35 = shufflevector <8 x float> %v33, <8 x float> poison, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %v36 = fadd <4 x float> %v34, %v35
  %v37 = shufflevector <4 x float> %v36, <4 x float> poison, <2 x i32> <i32 0, i32 1>
  %v38 = shufflevector <4 x float> %v36, <4 x float> poison, <2 x i32> <i32 2, i32 3>
  %v39 = fadd <2 x float> %v37, %v38
  %v40 = extractelement <2 x float> %v39, i64 0
  %v41 = extractelement <2 x float> %v39, i64 1
  %v42 = fadd float %v40, %v41
  store float %v42, ptr %l0
  %v43 = insertelement <16 x float> poison, float %v42, i64 0
  %v44 = shufflevector <16 x float> %v43, <16 x float> poison, <16 x i32> zeroinitializer
  store <16 x float> %v44, ptr %l0.lanes
  %v45 = load float, ptr %l0
  %v46 = fmul float %v45, 0x3F847AE140000000
  %v52 = insertelement <16 x float> poison, float %v46, i64 0
  %v53 = shufflevector <16 x float> %v52, <16 x float> poison, <16 x i32> zeroinitializer
  %v72 = getelementptr i8, ptr %p2, i64 %v3
  ; vector loop %i1 < 100, 16 lanes
  br label %pre3
pre3:
  br label %main3
main3:
  br label %loop3
loop3:
  %i1.loop3 = phi i64 [ 0, %main3 ], [ %i1.loop3.next, %loopnext3 ]
  %v47 = getelementptr i16, ptr %v4, i64 %i1.loop3
  %v48 = load <16 x i16>, ptr %v47, align 2
  %v49 = bitcast <16 x i16> %v48 to <16 x half>
  %v50 = fpext <16 x half> %v49 to <16 x float>
  %v51 = call <16 x float> @llvm.arithmetic.fence.v16f32(<16 x float> %v50)
  %v54 = fsub <16 x float> %v51, %v53
  %v57 = fmul <16 x float> %v54, %v56
  %v58 = call <16 x float> @llvm.rint.v16f32(<16 x float> %v57)
  %v61 = fcmp ogt <16 x float> %v58, %v60
  %v62 = select <16 x i1> %v61, <16 x float> %v58, <16 x float> %v60
  %v63 = fcmp olt <16 x float> %v62, %v56
  %v64 = select <16 x i1> %v63, <16 x float> %v62, <16 x float> %v56
  %v65 = fptosi <16 x float> %v64 to <16 x i32>
  %v66 = freeze <16 x i32> %v65
  %v67 = trunc <16 x i32> %v66 to <16 x i8>
  %v68 = fcmp oeq <16 x float> %v58, %v58
  %v71 = select <16 x i1> %v68, <16 x i8> %v67, <16 x i8> %v70
  %v73 = getelementptr i8, ptr %v72, i64 %i1.loop3
  store <16 x i8> %v71, ptr %v73, align 1
  br label %loopnext3
loopnext3:
  %i1.loop3.next = add nsw i64 %i1.loop3, 16
  %i1.loop3.more = icmp slt i64 %i1.loop3.next, 96
  br i1 %i1.loop3.more, label %loop3, label %rest3
rest3:
  %v74 = sub i64 100, 96
  %v75 = trunc i64 %v74 to i32
  %v76 = insertelement <16 x i32> poison, i32 %v75, i64 0
  %v77 = shufflevector <16 x i32> %v76, <16 x i32> poison, <16 x i32> zeroinitializer
  %v78 = icmp ult <16 x i32> %v14, %v77
  %v79 = getelementptr i16, ptr %v4, i64 96
  %v80 = getelementptr i16, ptr %v79, i64 0
  %v81 = load <4 x i16>, ptr %v80, align 2
  %v82 = shufflevector <4 x i16> %v81, <4 x i16> poison, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison>
  %v83 = shufflevector <16 x i16> zeroinitializer, <16 x i16> %v82, <16 x i32> <i32 16, i32 17, i32 18, i32 19, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %v84 = bitcast <16 x i16> %v83 to <16 x half>
  %v85 = fpext <16 x half> %v84 to <16 x float>
  %v86 = call <16 x float> @llvm.arithmetic.fence.v16f32(<16 x float> %v85)
  %v87 = fsub <16 x float> %v86, %v53
  %v88 = fmul <16 x float> %v87, %v56
  %v89 = call <16 x float> @llvm.rint.v16f32(<16 x float> %v88)
  %v90 = fcmp ogt <16 x float> %v89, %v60
  %v91 = select <16 x i1> %v90, <16 x float> %v89, <16 x float> %v60
  %v92 = fcmp olt <16 x float> %v91, %v56
  %v93 = select <16 x i1> %v92, <16 x float> %v91, <16 x float> %v56
  %v94 = fptosi <16 x float> %v93 to <16 x i32>
  %v95 = freeze <16 x i32> %v94
  %v96 = trunc <16 x i32> %v95 to <16 x i8>
  %v97 = fcmp oeq <16 x float> %v89, %v89
  %v98 = select <16 x i1> %v97, <16 x i8> %v96, <16 x i8> %v70
  %v99 = getelementptr i8, ptr %v72, i64 96
  %v100 = getelementptr i8, ptr %v99, i64 0
  %v101 = shufflevector <16 x i8> %v98, <16 x i8> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  store <4 x i8> %v101, ptr %v100, align 1
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

attributes #0 = { nounwind "prefer-vector-width"="256" "min-legal-vector-width"="256" }
!0 = !{i32 1}
