import { connect } from 'node:net';
import { createAnswerScanner } from './answer-scanner.ts';
import { toAddress } from './sockets.ts';

/** A request that a good client sends again and again. */
export interface Ask {
  readonly origin: string;
  readonly text: string;
  /** The status of each answer. Any other is a failure. */
  readonly status: number;
  /** True to open a new connection for each request. Otherwise one connection sends all, one after the other. */
  readonly isFresh: boolean;
}

/** A connection that sends the request of an Ask. */
export type Connection = ReturnType<typeof openConnection>;

export function openConnection({ origin, text, status }: Ask) {
  let settle: (failure: string | null) => void = () => {};
  const socket = connect({ ...toAddress(origin), noDelay: true });
  const scanner = createAnswerScanner((answered) => {
    if (answered.isLast) socket.end();
    settle(answered.status === status ? null : `answered ${answered.status}`);
  });
  socket.on('data', (bytes: Buffer) => scanner.read(bytes));
  socket.on('error', () => {});
  socket.once('close', () => settle('closed'));

  return {
    /** Sends the request. Returns null once the right answer has come, and otherwise what went wrong. */
    async request(deadlineMs: number): Promise<string | null> {
      const leftMs = deadlineMs - performance.now();
      if (leftMs <= 0) return 'not answered';
      const { promise, resolve } = Promise.withResolvers<string | null>();
      const timer = setTimeout(() => {
        resolve('not answered');
        socket.destroy();
      }, leftMs);
      settle = resolve;
      socket.write(text, 'latin1');
      const failure = await promise;
      clearTimeout(timer);
      return failure;
    },
    isOpen: () => socket.writable,
    close: () => void socket.destroy(),
  };
}
