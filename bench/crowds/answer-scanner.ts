const endOfHead = '\r\n\r\n';
const nothing = Buffer.alloc(0);

export interface Answered {
  readonly status: number;
  /** True if the server closes the connection after this answer. */
  readonly isLast: boolean;
}

/** Finds the answers in the bytes of one connection. */
export interface AnswerScanner {
  /** Calls `onAnswer` for each answer that ends in these bytes. The bytes may be overwritten afterwards. */
  read(bytes: Buffer): void;
  /** True if a part of an answer has arrived. */
  isWithin(): boolean;
}

/** Every answer must have a `Content-Length` or no body, as all answers of the service to these requests. */
export function createAnswerScanner(onAnswer: (answered: Answered) => void): AnswerScanner {
  let unread = nothing;
  let current: Answered | null = null;
  let bodyLeft = 0;

  /** Returns the place after the head, or -1 if the head has not arrived completely. */
  function readHead(bytes: Buffer, place: number): number {
    const end = bytes.indexOf(endOfHead, place, 'latin1');
    if (end === -1) return -1;
    const head = bytes.toString('latin1', place, end);
    current = { status: Number(head.slice(9, 12)), isLast: /\r\nconnection: *close/i.test(head) };
    bodyLeft = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);
    return end + endOfHead.length;
  }

  return {
    read(chunk) {
      const bytes = unread.length === 0 ? chunk : Buffer.concat([unread, chunk]);
      unread = nothing;
      for (let place = 0; place < bytes.length; ) {
        const bodyStart = current === null ? readHead(bytes, place) : place;
        if (bodyStart === -1) {
          unread = Buffer.from(bytes.subarray(place));
          return;
        }
        const taken = Math.min(bodyLeft, bytes.length - bodyStart);
        place = bodyStart + taken;
        bodyLeft -= taken;
        if (bodyLeft > 0 || current === null) return;
        const answered = current;
        current = null;
        onAnswer(answered);
      }
    },
    isWithin: () => current !== null || unread.length > 0,
  };
}
