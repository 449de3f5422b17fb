; kernel k0
; %s0 size N
; %p1 input f32[N, 8]  array 1
; %p2 output f32[8, N]  array 2

define internal void @k0_p0.body(i64 %begin, i64 %end, i64 %s0, ptr noalias readonly %p1, ptr noalias %p2, ptr noalias %scratch) #0 {
entry:
  %dummy = alloca i64, align 64
  %b0 = getelementptr i8, ptr %scratch, i64 0
  %v1 = and i64 %s0, -8
  %v29 = getelementptr float, ptr %b0, i64 %s0
  %v37 = or <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, zeroinitializer
  %v41 = or <8 x i64> <i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7>, zeroinitializer
  %v42 = insertelement <8 x i64> poison, i64 8, i64 0
  %v43 = shufflevector <8 x i64> %v42, <8 x i64> poison, <8 x i32> zeroinitializer
  %v44 = mul <8 x i64> %v41, %v43
  %v47 = insertelement <8 x i64> poison, i64 0, i64 0
  %v48 = shufflevector <8 x i64> %v47, <8 x i64> poison, <8 x i32> zeroinitializer
  %v51 = insertelement <8 x i1> poison, i1 true, i64 0
  %v52 = shufflevector <8 x i1> %v51, <8 x i1> poison, <8 x i32> zeroinitializer
  %v60 = and i64 %s0, -8
  ; loop %i0 < 1
  %v77 = icmp slt i64 %begin, %end
  br i1 %v77, label %pre1, label %exit1
pre1:
  br label %loop1
loop1:
  %i0.1 = phi i64 [ %begin, %pre1 ], [ %i0.1.next, %next1 ]
  ; loop %i2 < 8
  br label %pre2
pre2:
  br label %loop2
loop2:
  %i2.2 = phi i64 [ 0, %pre2 ], [ %i2.2.next, %next2 ]
  %v2 = getelementptr float, ptr %p1, i64 %i2.2
  %v30 = mul i64 %i2.2, 4096
  %v31 = getelementptr float, ptr %v29, i64 %v30
  ; vector loop %i1 < N, 8 lanes
  %v59 = icmp sgt i64 %s0, 0
  br i1 %v59, label %pre3, label %exit3
pre3:
  %main3.some = icmp sgt i64 %v1, 0
  br i1 %main3.some, label %main3, label %rest3
main3:
  br label %loop3
loop3:
  %i1.loop3 = phi i64 [ 0, %main3 ], [ %i1.loop3.next, %loopnext3 ]
  %v3 = mul i64 %i1.loop3, 8
  %v4 = getelementptr float, ptr %v2, i64 %v3
  %v5 = load <8 x float>, ptr %v4, align 4
  %v6 = shufflevector <8 x float> %v5, <8 x float> poison, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %v7 = getelementptr float, ptr %v4, i64 8
  %v8 = load <8 x float>, ptr %v7, align 4
  %v9 = shufflevector <8 x float> %v6, <8 x float> %v8, <8 x i32> <i32 0, i32 8, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %v10 = getelementptr float, ptr %v4, i64 16
  %v11 = load <8 x float>, ptr %v10, align 4
  %v12 = shufflevector <8 x float> %v9, <8 x float> %v11, <8 x i32> <i32 0, i32 1, i32 8, i32 0, i32 0, i32 0, i32 0, i32 0>
  %v13 = getelementptr float, ptr %v4, i64 24
  %v14 = load <8 x float>, ptr %v13, align 4
  %v15 = shufflevector <8 x float> %v12, <8 x float> %v14, <8 x i32> <i32 0, i32 1, i32 2, i32 8, i32 0, i32 0, i32 0, i32 0>
  %v16 = getelementptr float, ptr %v4, i64 32
  %v17 = load <8 x float>, ptr %v16, align 4
  %v18 = shufflevector <8 x float> %v15, <8 x float> %v17, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 0, i32 0, i32 0>
  %v19 = getelementptr float, ptr %v4, i64 40
  %v20 = load <8 x float>, ptr %v19, align 4
  %v21 = shufflevector <8 x float> %v18, <8 x float> %v20, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 8, i32 0, i32 0>
  %v22 = getelementptr float, ptr %v4, i64 48
  %v23 = load <8 x float>, ptr %v22, align 4
  %v24 = shufflevector <8 x float> %v21, <8 x float> %v23, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 8, i32 0>
  %v25 = getelementptr float, ptr %v4, i64 49
  %v26 = load <8 x float>, ptr %v25, align 4
  %v27 = shufflevector <8 x float> %v24, <8 x float> %v26, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 15>
  %v28 = shufflevector <8 x float> %v27, <8 x float> poison, <8 x i32> <i32 7, i32 6, i32 5, i32 4, i32 3, i32 2, i32 1, i32 0>
  %v32 = mul i64 %i1.loop3, -1
  %v33 = getelementptr float, ptr %v31, i64 %v32
  %v34 = getelementptr float, ptr %v33, i64 -8
  store <8 x float> %v28, ptr %v34, align 4
  br label %loopnext3
loopnext3:
  %i1.loop3.next = add nsw i64 %i1.loop3, 8
  %i1.loop3.more = icmp slt i64 %i1.loop3.next, %v1
  br i1 %i1.loop3.more, label %loop3, label %rest3
rest3:
  %rest3.some = icmp slt i64 %v1, %s0
  br i1 %rest3.some, label %tail3, label %exit3
tail3:
  %v35 = sub i64 %s0, %v1
  %v36 = trunc i64 %v35 to i32
  %v38 = insertelement <8 x i32> poison, i32 %v36, i64 0
  %v39 = shufflevector <8 x i32> %v38, <8 x i32> poison, <8 x i32> zeroinitializer
  %v40 = icmp ult <8 x i32> %v37, %v39
  %v45 = mul i64 %v1, 8
  %v46 = getelementptr float, ptr %v2, i64 %v45
  %v49 = select <8 x i1> %v40, <8 x i64> %v44, <8 x i64> %v48
  %v50 = getelementptr float, ptr %v46, <8 x i64> %v49
  %v53 = call <8 x float> @llvm.masked.gather.v8f32.v8p0(<8 x ptr> %v50, i32 4, <8 x i1> %v52, <8 x float> zeroinitializer)
  %v54 = shufflevector <8 x float> %v53, <8 x float> poison, <8 x i32> <i32 7, i32 6, i32 5, i32 4, i32 3, i32 2, i32 1, i32 0>
  %v55 = mul i64 %v1, -1
  %v56 = getelementptr float, ptr %v31, i64 %v55
  %v57 = getelementptr float, ptr %v56, i64 -8
  %v58 = shufflevector <8 x i1> %v40, <8 x i1> poison, <8 x i32> <i32 7, i32 6, i32 5, i32 4, i32 3, i32 2, i32 1, i32 0>
  call void @llvm.masked.store.v8f32.p0(<8 x float> %v54, ptr %v57, i32 4, <8 x i1> %v58)
  br label %exit3
exit3:
  br label %next2
next2:
  %i2.2.next = add nsw i64 %i2.2, 1
  %i2.2.more = icmp slt i64 %i2.2.next, 8
  br i1 %i2.2.more, label %loop2, label %exit2
exit2:
  ; loop %i2 < 8
  br label %pre4
pre4:
  br label %loop4
loop4:
  %i2.4 = phi i64 [ 0, %pre4 ], [ %i2.4.next, %next4 ]
  %v61 = mul i64 %i2.4, 4096
  %v62 = getelementptr float, ptr %b0, i64 %v61
  %v65 = mul i64 %s0, %i2.4
  %v66 = getelementptr float, ptr %p2, i64 %v65
  ; vector loop %i1 < N, 8 lanes
  %v76 = icmp sgt i64 %s0, 0
  br i1 %v76, label %pre5, label %exit5
pre5:
  %main5.some = icmp sgt i64 %v60, 0
  br i1 %main5.some, label %main5, label %rest5
main5:
  br label %loop5
loop5:
  %i1.loop5 = phi i64 [ 0, %main5 ], [ %i1.loop5.next, %loopnext5 ]
  %v63 = getelementptr float, ptr %v62, i64 %i1.loop5
  %v64 = load <8 x float>, ptr %v63, align 4
  %v67 = getelementptr float, ptr %v66, i64 %i1.loop5
  store <8 x float> %v64, ptr %v67, align 4
  br label %loopnext5
loopnext5:
  %i1.loop5.next = add nsw i64 %i1.loop5, 8
  %i1.loop5.more = icmp slt i64 %i1.loop5.next, %v60
  br i1 %i1.loop5.more, label %loop5, label %rest5
rest5:
  %rest5.some = icmp slt i64 %v60, %s0
  br i1 %rest5.some, label %tail5, label %exit5
tail5:
  %v68 = sub i64 %s0, %v60
  %v69 = trunc i64 %v68 to i32
  %v70 = insertelement <8 x i32> poison, i32 %v69, i64 0
  %v71 = shufflevector <8 x i32> %v70, <8 x i32> poison, <8 x i32> zeroinitializer
  %v72 = icmp ult <8 x i32> %v37, %v71
  %v73 = getelementptr float, ptr %v62, i64 %v60
  %v74 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v73, i32 4, <8 x i1> %v72, <8 x float> zeroinitializer)
  %v75 = getelementptr float, ptr %v66, i64 %v60
  call void @llvm.masked.store.v8f32.p0(<8 x float> %v74, ptr %v75, i32 4, <8 x i1> %v72)
  br label %exit5
exit5:
  br label %next4
next4:
  %i2.4.next = add nsw i64 %i2.4, 1
  %i2.4.more = icmp slt i64 %i2.4.next, 8
  br i1 %i2.4.more, label %loop4, label %exit4
exit4:
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

declare <8 x float> @llvm.masked.gather.v8f32.v8p0(<8 x ptr>, i32, <8 x i1>, <8 x float>)
declare <8 x float> @llvm.masked.load.v8f32.p0(ptr, i32, <8 x i1>, <8 x float>)
declare void @llvm.masked.store.v8f32.p0(<8 x float>, ptr, i32, <8 x i1>)

attributes #0 = { nounwind "prefer-vector-width"="256" "min-legal-vector-width"="256" }
!0 = !{i32 1}
