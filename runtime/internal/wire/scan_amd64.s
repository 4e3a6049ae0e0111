//go:build !purego

#include "textflag.h"

// BROADCAST sets all bytes of X to the lowest byte of the constant.
#define BROADCAST(constant, X) \
	MOVQ $constant, AX; \
	MOVQ AX, X; \
	PUNPCKLQDQ X, X

// SPECIALS sets the bit of AX for each of the sixteen bytes at SI+DX that is a quote, a backslash or a control
// character: one that is not above 0x1f is the lesser of itself and 0x1f.
#define SPECIALS \
	MOVOU (SI)(DX*1), X0; \
	MOVO X0, X1; \
	MOVO X0, X2; \
	MOVO X0, X3; \
	PCMPEQB X4, X1; \
	PCMPEQB X5, X2; \
	PMINUB X6, X3; \
	PCMPEQB X0, X3; \
	POR X1, X2; \
	POR X2, X3; \
	PMOVMSKB X3, AX

// func plainLength(p *byte, n int) int
TEXT ·plainLength(SB), NOSPLIT, $0-24
	MOVQ p+0(FP), SI
	MOVQ n+8(FP), CX
	XORQ DX, DX
	CMPQ CX, $16
	JLT  bytes

	BROADCAST(0x2222222222222222, X4)
	BROADCAST(0x5c5c5c5c5c5c5c5c, X5)
	BROADCAST(0x1f1f1f1f1f1f1f1f, X6)
	SUBQ $16, CX // the last offset from which sixteen bytes can be read

sixteen:
	SPECIALS
	TESTL AX, AX
	JNZ   found
	ADDQ  $16, DX
	CMPQ  DX, CX
	JLE   sixteen

	// The last sixteen bytes, of which some were looked at before.
	MOVQ  CX, DX
	SPECIALS
	TESTL AX, AX
	JNZ   found
	ADDQ  $16, CX
	MOVQ  CX, ret+16(FP)
	RET

found:
	BSFL AX, AX
	ADDQ AX, DX
	MOVQ DX, ret+16(FP)
	RET

bytes:
	CMPQ    DX, CX
	JGE     end
	MOVBLZX (SI)(DX*1), AX
	CMPL    AX, $0x20
	JLT     end
	CMPL    AX, $0x22
	JEQ     end
	CMPL    AX, $0x5c
	JEQ     end
	INCQ    DX
	JMP     bytes

end:
	MOVQ DX, ret+16(FP)
	RET
