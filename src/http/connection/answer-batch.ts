import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** How many answers wait at most. Each behind it delays the first by about 10 us. */
export const batchedAnswersMax = 32;

/** Answers that are sent together at the end of the turn of the event loop in which they are made. */
export interface AnswerBatch {
  /** Ends a response with its body, at the end of the turn. */
  end(response: ServerResponse, body: string | Buffer | null): void;
  /** Sends what waits: before something is written to a connection past its responses. */
  flush(): void;
}

/**
 * A client that has read everything sleeps, and to wake it up costs 5 to 10 us in a virtual machine: as much as all else
 * about a cached answer. Answers that are written one right after the other wake it up once.
 */
export function createAnswerBatch(): AnswerBatch {
  let waiting: { readonly response: ServerResponse; readonly body: string | Buffer | null }[] = [];

  function flush(): void {
    const answers = waiting;
    waiting = [];
    for (const { response, body } of answers)
      if (body === null) response.end();
      else response.end(body);
  }

  return {
    end(response, body) {
      waiting.push({ response, body });
      if (waiting.length === 1) setImmediate(flush);
      else if (waiting.length === batchedAnswersMax) flush();
    },
    flush,
  };
}

/** Sends what waits before a client's end is answered: Node then closes the connection. */
export function flushBeforeEnd(server: Server, { flush }: AnswerBatch): void {
  server.on('connection', (socket: Socket) => socket.prependListener('end', flush));
}
