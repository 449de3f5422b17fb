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
  %start2 = alloca i64, align 64
  %stop2 = alloca i64, align 64
  %again2 = alloca i1, align 64
  %v26 = icmp ne i64 %s1, 0
  %v34 = load float, ptr %p2, align 4
  %v35 = insertelement <8 x float> poison, float %v34, i64 0
  %v36 = shufflevector <8 x float> %v35, <8 x float> poison, <8 x i32> zeroinitializer
  %v56 = or <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, zeroinitializer
  ; loop %i0 < ((N + 1023) // 1024)
  %v68 = icmp slt i64 %begin, %end
  br i1 %v68, label %pre1, label %exit1
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
  %v8 = mul i64 %v3, 4
  %v9 = sub i64 0, %v7
  %v10 = and i64 %v9, 31
  %v11 = and i64 %v10, 3
  %v12 = icmp eq i64 %v11, 0
  %v13 = udiv i64 %v10, 4
  %v14 = sub i64 %v3, %v13
  %v15 = icmp sge i64 %v14, 8
  %v16 = and i1 %v12, %v15
  %v17 = add i64 %v7, %v8
  %v18 = and i64 %v17, 63
  %v19 = icmp eq i64 %v18, 0
  %v20 = or i64 %v7, %v17
  %v21 = and i64 %v20, 63
  %v22 = icmp eq i64 %v21, 0
  %v23 = and i1 %v16, %v22
  %v27 = and i1 %v23, %v26
  %v28 = getelementptr float, ptr %p4, i64 %v5
  %v31 = getelementptr float, ptr %p3, i64 %v5
  ; vector loop %i1 < min(1024, -1024*%i0 + N), 8 lanes
  %v67 = icmp sgt i64 %v3, 0
  br i1 %v67, label %pre2, label %exit2
pre2:
  %v24 = getelementptr i8, ptr %v6, i64 %v8
  %v25 = select i1 %v19, ptr %dummy, ptr %v24
  store i64 %v4, ptr %start2
  %main2.some = icmp sgt i64 %v4, 0
  br i1 %main2.some, label %main2, label %rest2
main2:
  br i1 %v27, label %head2, label %loop2
loop2:
  %i1.loop2 = phi i64 [ 0, %main2 ], [ %i1.loop2.next, %loopnext2 ]
  %v40 = getelementptr float, ptr %v28, i64 %i1.loop2
  %v41 = load <8 x float>, ptr %v40, align 4
  %v42 = getelementptr float, ptr %v31, i64 %i1.loop2
  %v43 = load <8 x float>, ptr %v42, align 4
  %v44 = fmul <8 x float> %v36, %v43
  %v45 = fadd <8 x float> %v44, %v41
  %v46 = getelementptr float, ptr %v6, i64 %i1.loop2
  store <8 x float> %v45, ptr %v46, align 4
  br label %loopnext2
loopnext2:
  %i1.loop2.next = add nsw i64 %i1.loop2, 8
  %i1.loop2.more = icmp slt i64 %i1.loop2.next, %v4
  br i1 %i1.loop2.more, label %loop2, label %rest2
head2:
  call void @llvm.prefetch.p0(ptr %v25, i32 1, i32 3, i32 1)
  store i64 0, ptr %start2
  store i64 %v13, ptr %stop2
  store i1 true, ptr %again2
  %head2.some = icmp sgt i64 %v13, 0
  br i1 %head2.some, label %tail2, label %whole2
whole2:
  %left2 = sub i64 %v3, %v13
  %steps2 = and i64 %left2, -8
  %end2 = add i64 %v13, %steps2
  store i64 %end2, ptr %start2
  br label %stream2
stream2:
  %i1.stream2 = phi i64 [ %v13, %whole2 ], [ %i1.stream2.next, %streamnext2 ]
  %v47 = getelementptr float, ptr %v28, i64 %i1.stream2
  %v48 = load <8 x float>, ptr %v47, align 4
  %v49 = getelementptr float, ptr %v31, i64 %i1.stream2
  %v50 = load <8 x float>, ptr %v49, align 4
  %v51 = fmul <8 x float> %v36, %v50
  %v52 = fadd <8 x float> %v51, %v48
  %v53 = getelementptr float, ptr %v6, i64 %i1.stream2
  store <8 x float> %v52, ptr %v53, align 32, !nontemporal !0
  br label %streamnext2
streamnext2:
  %i1.stream2.next = add nsw i64 %i1.stream2, 8
  %i1.stream2.more = icmp slt i64 %i1.stream2.next, %end2
  br i1 %i1.stream2.more, label %stream2, label %rest2
rest2:
  store i64 %v3, ptr %stop2
  store i1 false, ptr %again2
  %rest2.start = load i64, ptr %start2
  %rest2.some = icmp slt i64 %rest2.start, %v3
  br i1 %rest2.some, label %tail2, label %exit2
tail2:
  %tail2.start = load i64, ptr %start2
  %tail2.stop = load i64, ptr %stop2
  %v54 = sub i64 %tail2.stop, %tail2.start
  %v55 = trunc i64 %v54 to i32
  %v57 = insertelement <8 x i32> poison, i32 %v55, i64 0
  %v58 = shufflevector <8 x i32> %v57, <8 x i32> poison, <8 x i32> zeroinitializer
  %v59 = icmp ult <8 x i32> %v56, %v58
  %v60 = getelementptr float, ptr %v28, i64 %tail2.start
  %v61 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v60, i32 4, <8 x i1> %v59, <8 x float> zeroinitializer)
  %v62 = getelementptr float, ptr %v31, i64 %tail2.start
  %v63 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v62, i32 4, <8 x i1> %v59, <8 x float> zeroinitializer)
  %v64 = fmul <8 x float> %v36, %v63
  %v65 = fadd <8 x float> %v64, %v61
  %v66 = getelementptr float, ptr %v6, i64 %tail2.start
  call void @llvm.masked.store.v8f32.p0(<8 x float> %v65, ptr %v66, i32 4, <8 x i1> %v59)
  %tail2.again = load i1, ptr %again2
  br i1 %tail2.again, label %whole2, label %exit2
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
declare void @llvm.prefetch.p0(ptr, i32, i32, i32)
declare void @llvm.x86.sse.sfence()

attributes #0 = { nounwind "prefer-vector-width"="256" "min-legal-vector-width"="256" }
!0 = !{i32 1}
