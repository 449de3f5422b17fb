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
  %v13 = or <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, zeroinitializer
  %v50 = insertelement <16 x float> poison, float 127.0, i64 0
  %v51 = shufflevector <16 x float> %v50, <16 x float> poison, <16 x i32> zeroinitializer
  %v54 = insertelement <16 x float> poison, float -128.0, i64 0
  %v55 = shufflevector <16 x float> %v54, <16 x float> poison, <16 x i32> zeroinitializer
  %v64 = insertelement <16 x i8> poison, i8 0, i64 0
  %v65 = shufflevector <16 x i8> %v64, <16 x i8> poison, <16 x i32> zeroinitializer
  ; loop %i0 < R
  %v93 = icmp slt i64 %begin, %end
  br i1 %v93, label %pre1, label %exit1
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
  %v9 = load <16 x float>, ptr %l0.lanes
  %v10 = fadd <16 x float> %v9, %v8
  store <16 x float> %v10, ptr %l0.lanes
  br label %loopnext2
loopnext2:
  %i1.loop2.next = add nsw i64 %i1.loop2, 16
  %i1.loop2.more = icmp slt i64 %i1.loop2.next, 96
  br i1 %i1.loop2.more, label %loop2, label %rest2
rest2:
  %v11 = sub i64 100, 96
  %v12 = trunc i64 %v11 to i32
  %v14 = insertelement <16 x i32> poison, i32 %v12, i64 0
  %v15 = shufflevector <16 x i32> %v14, <16 x i32> poison, <16 x i32> zeroinitializer
  %v16 = icmp ult <16 x i32> %v13, %v15
  store <16 x i16> zeroinitializer, ptr %tail.v16i16
  %v17 = getelementptr i16, ptr %v4, i64 96
  %v18 = mul i64 %v11, 2
  call void @llvm.memcpy.p0.p0.i64(ptr %tail.v16i16, ptr %v17, i64 %v18, i1 false)
  %v19 = load <16 x i16>, ptr %tail.v16i16
  %v20 = bitcast <16 x i16> %v19 to <16 x half>
  %v21 = fpext <16 x half> %v20 to <16 x float>
  %v22 = load <16 x float>, ptr %l0.lanes
  %v23 = fadd <16 x float> %v22, %v21
  %v24 = load <16 x float>, ptr %l0.lanes
  %v25 = select <16 x i1> %v16, <16 x float> %v23, <16 x float> %v24
  store <16 x float> %v25, ptr %l0.lanes
  br label %exit2
exit2:
  %v26 = load <16 x float>, ptr %l0.lanes
  %v27 = shufflevector <16 x float> %v26, <16 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %v28 = shufflevector <16 x float> %v26, <16 x float> poison, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %v29 = fadd <8 x float> %v27, %v28
  %v30 = shufflevector <8 x float> %v29, <8 x float> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %v31 = shufflevector <8 x float> %v29, <8 x float> poison, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %v32 = fadd <4 x float> %v30, %v31
  %v33 = shufflevector <4 x float> %v32, <4 x float> poison, <2 x i32> <i32 0, i32 1>
  %v34 = shufflevector <4 x float> %v32, <4 x float> poison, <2 x i32> <i32 2, i32 3>
  %v35 = fadd <2 x float> %v33, %v34
  %v36 = extractelement <2 x float> %v35, i64 0
  %v37 = extractelement <2 x float> %v35, i64 1
  %v38 = fadd float %v36, %v37
  store float %v38, ptr %l0
  %v39 = insertelement <16 x float> poison, float %v38, i64 0
  %v40 = shufflevector <16 x float> %v39, <16 x float> poison, <16 x i32> zeroinitializer
  store <16 x float> %v40, ptr %l0.lanes
  %v41 = load float, ptr %l0
  %v42 = fmul float %v41, 0x3F847AE140000000
  %v47 = insertelement <16 x float> poison, float %v42, i64 0
  %v48 = shufflevector <16 x float> %v47, <16 x float> poison, <16 x i32> zeroinitializer
  %v67 = getelementptr i8, ptr %p2, i64 %v3
  ; vector loop %i1 < 100, 16 lanes
  br label %pre3
pre3:
  br label %main3
main3:
  br label %loop3
loop3:
  %i1.loop3 = phi i64 [ 0, %main3 ], [ %i1.loop3.next, %loopnext3 ]
  %v43 = getelementptr i16, ptr %v4, i64 %i1.loop3
  %v44 = load <16 x i16>, ptr %v43, align 2
  %v45 = bitcast <16 x i16> %v44 to <16 x half>
  %v46 = fpext <16 x half> %v45 to <16 x float>
  %v49 = fsub <16 x float> %v46, %v48
  %v52 = fmul <16 x float> %v49, %v51
  %v53 = call <16 x float> @llvm.rint.v16f32(<16 x float> %v52)
  %v56 = fcmp ogt <16 x float> %v53, %v55
  %v57 = select <16 x i1> %v56, <16 x float> %v53, <16 x float> %v55
  %v58 = fcmp olt <16 x float> %v57, %v51
  %v59 = select <16 x i1> %v58, <16 x float> %v57, <16 x float> %v51
  %v60 = fptosi <16 x float> %v59 to <16 x i32>
  %v61 = freeze <16 x i32> %v60
  %v62 = trunc <16 x i32> %v61 to <16 x i8>
  %v63 = fcmp oeq <16 x float> %v53, %v53
  %v66 = select <16 x i1> %v63, <16 x i8> %v62, <16 x i8> %v65
  %v68 = getelementptr i8, ptr %v67, i64 %i1.loop3
  store <16 x i8> %v66, ptr %v68, align 1
  br label %loopnext3
loopnext3:
  %i1.loop3.next = add nsw i64 %i1.loop3, 16
  %i1.loop3.more = icmp slt i64 %i1.loop3.next, 96
  br i1 %i1.loop3.more, label %loop3, label %rest3
rest3:
  %v69 = sub i64 100, 96
  %v70 = trunc i64 %v69 to i32
  %v71 = insertelement <16 x i32> poison, i32 %v70, i64 0
  %v72 = shufflevector <16 x i32> %v71, <16 x i32> poison, <16 x i32> zeroinitializer
  %v73 = icmp ult <16 x i32> %v13, %v72
  store <16 x i16> zeroinitializer, ptr %tail.v16i16
  %v74 = getelementptr i16, ptr %v4, i64 96
  %v75 = mul i64 %v69, 2
  call void @llvm.memcpy.p0.p0.i64(ptr %tail.v16i16, ptr %v74, i64 %v75, i1 false)
  %v76 = load <16 x i16>, ptr %tail.v16i16
  %v77 = bitcast <16 x i16> %v76 to <16 x half>
  %v78 = fpext <16 x half> %v77 to <16 x float>
  %v79 = fsub <16 x float> %v78, %v48
  %v80 = fmul <16 x float> %v79, %v51
  %v81 = call <16 x float> @llvm.rint.v16f32(<16 x float> %v80)
  %v82 = fcmp ogt <16 x float> %v81, %v55
  %v83 = select <16 x i1> %v82, <16 x float> %v81, <16 x float> %v55
  %v84 = fcmp olt <16 x float> %v83, %v51
  %v85 = select <16 x i1> %v84, <16 x float> %v83, <16 x float> %v51
  %v86 = fptosi <16 x float> %v85 to <16 x i32>
  %v87 = freeze <16 x i32> %v86
  %v88 = trunc <16 x i32> %v87 to <16 x i8>
  %v89 = fcmp oeq <16 x float> %v81, %v81
  %v90 = select <16 x i1> %v89, <16 x i8> %v88, <16 x i8> %v65
  store <16 x i8> %v90, ptr %tail.v16i8
  %v91 = getelementptr i8, ptr %v67, i64 96
  %v92 = mul i64 %v69, 1
  call void @llvm.memcpy.p0.p0.i64(ptr %v91, ptr %tail.v16i8, i64 %v92, i1 false)
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

declare <16 x float> @llvm.rint.v16f32(<16 x float>)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)

attributes #0 = { nounwind "prefer-vector-width"="256" "min-legal-vector-width"="256" }
!0 = !{i32 1}
