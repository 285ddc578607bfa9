import type { Soon } from '../soon.ts';
import type { Exchange } from './exchange.ts';
import type { Responder } from './responder.ts';

/** Runs the steps of a request. If a step throws, the error becomes the response. */
export interface Steps {
  /** Runs a step unless the request is already answered. */
  attempt(exchange: Exchange, step: (exchange: Exchange) => void): void;
  /**
   * Calls `next` with the value: immediately if it is not a promise, otherwise when the promise resolves. If the
   * promise rejects, the error becomes the response.
   */
  proceed<T>(exchange: Exchange, value: Soon<T>, next: (exchange: Exchange, value: T) => void): void;
}

export function createSteps({ fail, track }: Responder): Steps {
  function attempt(exchange: Exchange, step: (exchange: Exchange) => void): void {
    try {
      if (!exchange.isAnswered) step(exchange);
    } catch (error) {
      fail(exchange, error);
    }
  }

  function proceed<T>(
    exchange: Exchange,
    value: Soon<T>,
    next: (exchange: Exchange, value: T) => void,
  ): void {
    if (!(value instanceof Promise)) {
      next(exchange, value);
      return;
    }
    track(exchange);
    value.then(
      (known) => attempt(exchange, () => next(exchange, known)),
      (error) => fail(exchange, error),
    );
  }

  return { attempt, proceed };
}
