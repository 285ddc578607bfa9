import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { performance } from 'node:perf_hooks';
import type { Soon } from '../soon.ts';
import type { Admission, Admitted } from './admission.ts';
import type { LaneAnswer } from './head.ts';
import type { LaneEntry } from './request-log.ts';
import type { CountingRequestLog } from './request-metrics.ts';
import type { Turns } from './turns.ts';

export interface FastStoreOptions {
  readonly admission: Admission;
  readonly turns: Turns;
  readonly createRequestId: () => string;
  readonly requestLog: CountingRequestLog;
  readonly send: (response: ServerResponse, answer: LaneAnswer) => void;
}

/** A request that may be answered, and where it goes otherwise. */
export interface LaneRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly admitted: Admitted;
  readonly longWay: RequestListener;
}

/** What is said of an answer of the store. */
type Described = Pick<LaneAnswer, 'status' | 'lines' | 'body'> & Pick<LaneEntry, 'operation'>;

/** Asks the store for `T`, and answers with what is said of it. */
export type AskStore = ReturnType<typeof createAskStore>;

/**
 * Answers requests of the fast lane once the store has done its part. Where it cannot, the request goes the long way with
 * the reason, which is told to the client there.
 */
export function createAskStore(options: FastStoreOptions) {
  const { admission, turns, createRequestId, requestLog, send } = options;

  return function askStore<T>(
    { request, response, admitted, longWay }: LaneRequest,
    ask: () => Soon<T>,
    describe: (value: T) => Described,
  ): void {
    const { caller, decision } = admitted;
    const startedAtMs = performance.now();

    function fail(failure: Error): void {
      if (response.headersSent) {
        response.destroy();
        return;
      }
      admission.note(request, { decision, failure, ms: performance.now() - startedAtMs });
      longWay(request, response);
    }

    function answer(value: T): void {
      const ms = performance.now() - startedAtMs;
      const requestId = createRequestId();
      const { operation, status, lines, body } = describe(value);
      send(response, { status, requestId, limit: decision.headers, lines, body });
      requestLog.noteLane({ operation, request, requestId, status, caller, ms });
    }

    function answerTurn(value: T): void {
      answer(value);
      turns.end(request.socket, response);
    }

    try {
      const value = ask();
      if (value instanceof Promise) {
        turns.begin(request.socket, { response, reply: null });
        value.then(answerTurn).catch(fail);
      } else answer(value);
    } catch (error) {
      fail(error as Error);
    }
  };
}
