; kernel k0
; %s0 size N
; %p1 input f32[N, 8]  array 1
; %p2 output f32[8, N]  array 2

define internal void @k0_p0.body(i64 %begin, i64 %end, i64 %s0, ptr noalias readonly %p1, ptr noalias %p2, ptr noalias %scratch) #0 {
entry:
  %dummy = alloca i64, align 64
  %b0 = getelementptr i8, ptr %scratch, i64 0
  %v1 = and i64 %s0, -8
  %v2 = or <8 x i64> <i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7>, zeroinitializer
  %v3 = insertelement <8 x i64> poison, i64 8, i64 0
  %v4 = shufflevector <8 x i64> %v3, <8 x i64> poison, <8 x i32> zeroinitializer
  %v5 = mul <8 x i64> %v2, %v4
  %v10 = insertelement <8 x i1> poison, i1 true, i64 0
  %v11 = shufflevector <8 x i1> %v10, <8 x i1> poison, <8 x i32> zeroinitializer
  %v14 = getelementptr float, ptr %b0, i64 %s0
  %v22 = or <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, zeroinitializer
  %v26 = mul <8 x i64> %v2, %v4
  %v29 = insertelement <8 x i64> poison, i64 0, i64 0
  %v30 = shufflevector <8 x i64> %v29, <8 x i64> poison, <8 x i32> zeroinitializer
  %v40 = and i64 %s0, -8
  ; loop %i0 < 1
  %v57 = icmp slt i64 %begin, %end
  br i1 %v57, label %pre1, label %exit1
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
  %v6 = getelementptr float, ptr %p1, i64 %i2.2
  %v15 = mul i64 %i2.2, 4096
  %v16 = getelementptr float, ptr %v14, i64 %v15
  ; vector loop %i1 < N, 8 lanes
  %v39 = icmp sgt i64 %s0, 0
  br i1 %v39, label %pre3, label %exit3
pre3:
  %main3.some = icmp sgt i64 %v1, 0
  br i1 %main3.some, label %main3, label %rest3
main3:
  br label %loop3
loop3:
  %i1.loop3 = phi i64 [ 0, %main3 ], [ %i1.loop3.next, %loopnext3 ]
  %v7 = mul i64 %i1.loop3, 8
  %v8 = getelementptr float, ptr %v6, i64 %v7
  %v9 = getelementptr float, ptr %v8, <8 x i64> %v5
  %v12 = call <8 x float> @llvm.masked.gather.v8f32.v8p0(<8 x ptr> %v9, i32 4, <8 x i1> %v11, <8 x float> zeroinitializer)
  %v13 = shufflevector <8 x float> %v12, <8 x float> poison, <8 x i32> <i32 7, i32 6, i32 5, i32 4, i32 3, i32 2, i32 1, i32 0>
  %v17 = mul i64 %i1.loop3, -1
  %v18 = getelementptr float, ptr %v16, i64 %v17
  %v19 = getelementptr float, ptr %v18, i64 -8
  store <8 x float> %v13, ptr %v19, align 4
  br label %loopnext3
loopnext3:
  %i1.loop3.next = add nsw i64 %i1.loop3, 8
  %i1.loop3.more = icmp slt i64 %i1.loop3.next, %v1
  br i1 %i1.loop3.more, label %loop3, label %rest3
rest3:
  %rest3.some = icmp slt i64 %v1, %s0
  br i1 %rest3.some, label %tail3, label %exit3
tail3:
  %v20 = sub i64 %s0, %v1
  %v21 = trunc i64 %v20 to i32
  %v23 = insertelement <8 x i32> poison, i32 %v21, i64 0
  %v24 = shufflevector <8 x i32> %v23, <8 x i32> poison, <8 x i32> zeroinitializer
  %v25 = icmp ult <8 x i32> %v22, %v24
  %v27 = mul i64 %v1, 8
  %v28 = getelementptr float, ptr %v6, i64 %v27
  %v31 = select <8 x i1> %v25, <8 x i64> %v26, <8 x i64> %v30
  %v32 = getelementptr float, ptr %v28, <8 x i64> %v31
  %v33 = call <8 x float> @llvm.masked.gather.v8f32.v8p0(<8 x ptr> %v32, i32 4, <8 x i1> %v11, <8 x float> zeroinitializer)
  %v34 = shufflevector <8 x float> %v33, <8 x float> poison, <8 x i32> <i32 7, i32 6, i32 5, i32 4, i32 3, i32 2, i32 1, i32 0>
  %v35 = mul i64 %v1, -1
  %v36 = getelementptr float, ptr %v16, i64 %v35
  %v37 = getelementptr float, ptr %v36, i64 -8
  %v38 = shufflevector <8 x i1> %v25, <8 x i1> poison, <8 x i32> <i32 7, i32 6, i32 5, i32 4, i32 3, i32 2, i32 1, i32 0>
  call void @llvm.masked.store.v8f32.p0(<8 x float> %v34, ptr %v37, i32 4, <8 x i1> %v38)
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
  %v41 = mul i64 %i2.4, 4096
  %v42 = getelementptr float, ptr %b0, i64 %v41
  %v45 = mul i64 %s0, %i2.4
  %v46 = getelementptr float, ptr %p2, i64 %v45
  ; vector loop %i1 < N, 8 lanes
  %v56 = icmp sgt i64 %s0, 0
  br i1 %v56, label %pre5, label %exit5
pre5:
  %main5.some = icmp sgt i64 %v40, 0
  br i1 %main5.some, label %main5, label %rest5
main5:
  br label %loop5
loop5:
  %i1.loop5 = phi i64 [ 0, %main5 ], [ %i1.loop5.next, %loopnext5 ]
  %v43 = getelementptr float, ptr %v42, i64 %i1.loop5
  %v44 = load <8 x float>, ptr %v43, align 4
  %v47 = getelementptr float, ptr %v46, i64 %i1.loop5
  store <8 x float> %v44, ptr %v47, align 4
  br label %loopnext5
loopnext5:
  %i1.loop5.next = add nsw i64 %i1.loop5, 8
  %i1.loop5.more = icmp slt i64 %i1.loop5.next, %v40
  br i1 %i1.loop5.more, label %loop5, label %rest5
rest5:
  %rest5.some = icmp slt i64 %v40, %s0
  br i1 %rest5.some, label %tail5, label %exit5
tail5:
  %v48 = sub i64 %s0, %v40
  %v49 = trunc i64 %v48 to i32
  %v50 = insertelement <8 x i32> poison, i32 %v49, i64 0
  %v51 = shufflevector <8 x i32> %v50, <8 x i32> poison, <8 x i32> zeroinitializer
  %v52 = icmp ult <8 x i32> %v22, %v51
  %v53 = getelementptr float, ptr %v42, i64 %v40
  %v54 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v53, i32 4, <8 x i1> %v52, <8 x float> zeroinitializer)
  %v55 = getelementptr float, ptr %v46, i64 %v40
  call void @llvm.masked.store.v8f32.p0(<8 x float> %v54, ptr %v55, i32 4, <8 x i1> %v52)
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
