; kernel k0
; %s0 size N
; %s1 size %stream
; %p2 scalar f32[]  array 2
; %p3 input f32[N]  array 3
; %p4 input f32[N]  array 4
; %p5 output f32[N]  array 5

define internal void @k0_p0.body(i64 %begin, i64 %end, i64 %s0, i64 %s1, ptr noalias readonly %p2, ptr noalias readonly %p3, ptr noalias readonly %p4, ptr noalias %p5, ptr noalias %scratch) #0 {
entry:
  %dummy = alloca i64, align 64
  %v10 = icmp ne i64 %s1, 0
  %v18 = load float, ptr %p2, align 4
  %v19 = insertelement <8 x float> poison, float %v18, i64 0
  %v20 = shufflevector <8 x float> %v19, <8 x float> poison, <8 x i32> zeroinitializer
  %v33 = or <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, zeroinitializer
  ; loop %i0 < ((N + 1023) // 1024)
  %v45 = icmp slt i64 %begin, %end
  br i1 %v45, label %pre1, label %exit1
pre1:
  br label %loop1
loop1:
  %i0.1 = phi i64 [ %begin, %pre1 ], [ %i0.1.next, %next1 ]
  %v1 = mul i64 %i0.1, -1024
  %v2 = add i64 %s0, %v1
  %v3 = call i64 @llvm.smin.i64(i64 1024, i64 %v2)
  %v4 = and i64 %v3, -8
  %v5 = mul i64 %i0.1, 1024
  %v6 = getelementptr float, ptr %p5, i64 %v5
  %v7 = ptrtoint ptr %v6 to i64
  %v8 = and i64 %v7, 31
  %v9 = icmp eq i64 %v8, 0
  %v11 = and i1 %v10, %v9
  %v12 = getelementptr float, ptr %p4, i64 %v5
  %v15 = getelementptr float, ptr %p3, i64 %v5
  ; vector loop %i1 < min(1024, -1024*%i0 + N), 8 lanes
  %v44 = icmp sgt i64 %v3, 0
  br i1 %v44, label %pre2, label %exit2
pre2:
  %main2.some = icmp sgt i64 %v4, 0
  br i1 %main2.some, label %main2, label %rest2
main2:
  br i1 %v11, label %stream2, label %loop2
loop2:
  %i1.loop2 = phi i64 [ 0, %main2 ], [ %i1.loop2.next, %loopnext2 ]
  %v13 = getelementptr float, ptr %v12, i64 %i1.loop2
  %v14 = load <8 x float>, ptr %v13, align 4
  %v16 = getelementptr float, ptr %v15, i64 %i1.loop2
  %v17 = load <8 x float>, ptr %v16, align 4
  %v21 = fmul <8 x float> %v20, %v17
  %v22 = fadd <8 x float> %v21, %v14
  %v23 = getelementptr float, ptr %v6, i64 %i1.loop2
  store <8 x float> %v22, ptr %v23, align 4
  br label %loopnext2
loopnext2:
  %i1.loop2.next = add nsw i64 %i1.loop2, 8
  %i1.loop2.more = icmp slt i64 %i1.loop2.next, %v4
  br i1 %i1.loop2.more, label %loop2, label %rest2
stream2:
  %i1.stream2 = phi i64 [ 0, %main2 ], [ %i1.stream2.next, %streamnext2 ]
  %v24 = getelementptr float, ptr %v12, i64 %i1.stream2
  %v25 = load <8 x float>, ptr %v24, align 4
  %v26 = getelementptr float, ptr %v15, i64 %i1.stream2
  %v27 = load <8 x float>, ptr %v26, align 4
  %v28 = fmul <8 x float> %v20, %v27
  %v29 = fadd <8 x float> %v28, %v25
  %v30 = getelementptr float, ptr %v6, i64 %i1.stream2
  store <8 x float> %v29, ptr %v30, align 32, !nontemporal !0
  br label %streamnext2
streamnext2:
  %i1.stream2.next = add nsw i64 %i1.stream2, 8
  %i1.stream2.more = icmp slt i64 %i1.stream2.next, %v4
  br i1 %i1.stream2.more, label %stream2, label %rest2
rest2:
  %rest2.some = icmp slt i64 %v4, %v3
  br i1 %rest2.some, label %tail2, label %exit2
tail2:
  %v31 = sub i64 %v3, %v4
  %v32 = trunc i64 %v31 to i32
  %v34 = insertelement <8 x i32> poison, i32 %v32, i64 0
  %v35 = shufflevector <8 x i32> %v34, <8 x i32> poison, <8 x i32> zeroinitializer
  %v36 = icmp ult <8 x i32> %v33, %v35
  %v37 = getelementptr float, ptr %v12, i64 %v4
  %v38 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v37, i32 4, <8 x i1> %v36, <8 x float> zeroinitializer)
  %v39 = getelementptr float, ptr %v15, i64 %v4
  %v40 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v39, i32 4, <8 x i1> %v36, <8 x float> zeroinitializer)
  %v41 = fmul <8 x float> %v20, %v40
  %v42 = fadd <8 x float> %v41, %v38
  %v43 = getelementptr float, ptr %v6, i64 %v4
  call void @llvm.masked.store.v8f32.p0(<8 x float> %v42, ptr %v43, i32 4, <8 x i1> %v36)
  br label %exit2
exit2:
  br label %next1
next1:
  %i0.1.next = add nsw i64 %i0.1, 1
  %i0.1.more = icmp slt i64 %i0.1.next, %end
  br i1 %i0.1.more, label %loop1, label %exit1
exit1:
  call void @llvm.x86.sse.sfence()
  ret void
}

define void @k0_p0(i64 %begin, i64 %end, ptr %arrays, ptr %sizes, ptr %scratch) #0 {
  %a0 = getelementptr i64, ptr %sizes, i64 0
  %s0 = load i64, ptr %a0
  %a1 = getelementptr i64, ptr %sizes, i64 1
  %s1 = load i64, ptr %a1
  %a2 = getelementptr ptr, ptr %arrays, i64 0
  %p2 = load ptr, ptr %a2
  %a3 = getelementptr ptr, ptr %arrays, i64 1
  %p3 = load ptr, ptr %a3
  %a4 = getelementptr ptr, ptr %arrays, i64 2
  %p4 = load ptr, ptr %a4
  %a5 = getelementptr ptr, ptr %arrays, i64 3
  %p5 = load ptr, ptr %a5
  call void @k0_p0.body(i64 %begin, i64 %end, i64 %s0, i64 %s1, ptr %p2, ptr %p3, ptr %p4, ptr %p5, ptr %scratch)
  ret void
}

declare <8 x float> @llvm.masked.load.v8f32.p0(ptr, i32, <8 x i1>, <8 x float>)
declare i64 @llvm.smin.i64(i64, i64)
declare void @llvm.masked.store.v8f32.p0(<8 x float>, ptr, i32, <8 x i1>)
declare void @llvm.x86.sse.sfence()

attributes #0 = { nounwind "prefer-vector-width"="256" "min-legal-vector-width"="256" }
!0 = !{i32 1}
