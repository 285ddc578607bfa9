import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** The most answers in one batch. Each one delays the first by about 10 us. */
export const batchedAnswersMax = 32;

/** Collects the answers of one turn of the event loop and sends them together at its end. */
export interface AnswerBatch {
  /** Ends a response with its body at the end of the turn. */
  end(response: ServerResponse, body: string | Buffer | null): void;
  /** Sends the batch now. Call it before writing to a connection directly. */
  flush(): void;
}

/**
 * Creates an answer batch. A client that has read everything sleeps, and waking it takes 5 to 10 us in a virtual
 * machine. A cached answer takes no longer than that. Answers that are written together wake the client once.
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

/** Sends the batch before Node handles the end of a client's stream, because Node then closes the connection. */
export function flushBeforeEnd(server: Server, { flush }: AnswerBatch): void {
  server.on('connection', (socket: Socket) => socket.prependListener('end', flush));
}
