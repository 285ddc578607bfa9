import type { ServerResponse } from 'node:http';
import type { AppError } from '../errors.ts';
import type { Log } from '../observability/log.ts';
import type { InFlight } from './connection/in-flight.ts';
import type { Exchange } from './exchange.ts';
import type { RequestObserver } from './request-log.ts';
import type { Answer } from './response/answer.ts';
import type { Cors } from './response/cors.ts';
import { errorStatus, toAppError } from './response/errors.ts';
import { toLines } from './response/header-lines.ts';
import type { Send } from './response/send.ts';

export interface ResponderOptions {
  readonly send: Send;
  readonly cors: Cors;
  readonly makeErrorAnswer: (error: AppError, lines?: string) => Answer;
  readonly observers: readonly RequestObserver[];
  readonly inFlight: InFlight;
  readonly log: Log;
}

/** Sends one response to each request: a given answer or an error. Ignores further answers to the same request. */
export interface Responder {
  send(exchange: Exchange, answer: Answer): void;
  fail(exchange: Exchange, error: unknown): void;
  /** Records the request in `InFlight`, so that the connection can fail the request if its body breaks off. */
  track(exchange: Exchange): void;
}

export function createResponder(options: ResponderOptions): Responder {
  const { cors, makeErrorAnswer, observers, inFlight, log } = options;

  function send(exchange: Exchange, answer: Answer): void {
    if (exchange.isAnswered) return;
    exchange.isAnswered = true;
    const { request, response } = exchange;
    const status = options.send(exchange, answer, cors.linesFor(request));
    if (!response.shouldKeepAlive) inFlight.close(request.socket);
    if (exchange.isTracked) forgetOnceRead(exchange);
    const ms = performance.now() - exchange.startedAtMs - exchange.heldMs;
    for (const observer of observers) observer.note(exchange, status, ms);
  }

  function fail(exchange: Exchange, error: unknown): void {
    if (exchange.isAnswered) {
      cutShort(exchange.response);
      return;
    }
    const failure = toAppError(error);
    // `unavailable` is not logged here: the store logs each of its failures once, and not for every request.
    if (errorStatus[failure.code] >= 500 && failure.code !== 'unavailable')
      log.error({ requestId: exchange.id, err: failure.cause ?? failure }, failure.message);
    const { route, allow } = exchange.match;
    const lines = allow !== null && failure.code === 'method_not_allowed' ? toLines({ allow }) : '';
    send(exchange, makeErrorAnswer(failure, (route?.announcement ?? '') + lines));
  }

  function track(exchange: Exchange): void {
    const { request, response } = exchange;
    if (exchange.isTracked) return;
    exchange.isTracked = true;
    exchange.brokenBy = inFlight.findFailure(response);
    if (exchange.brokenBy !== null) response.shouldKeepAlive = false;
    inFlight.begin(request.socket, { response, breakOff: (failure) => breakOff(exchange, failure) });
  }

  /** Forgets an answered request. As long as its body arrives, the connection must find it, because the body may break off. */
  function forgetOnceRead({ request, response }: Exchange): void {
    const forget = () => inFlight.end(request.socket, response);
    if (request.complete || request.readableEnded) forget();
    else request.once('close', forget);
  }

  function breakOff(exchange: Exchange, failure: AppError): void {
    const { request, response } = exchange;
    response.shouldKeepAlive = false;
    if (exchange.isAnswered) request.socket.destroySoon();
    else if (exchange.isAdmitted) fail(exchange, failure);
    else exchange.brokenBy = failure;
  }

  return { send, fail, track };
}

/** Closes the connection of a response that has begun and cannot be completed. */
function cutShort(response: ServerResponse): void {
  if (!response.writableEnded) response.destroy();
}
