import type { Soon } from '../soon.ts';
import type { Exchange } from './exchange.ts';
import type { Responder } from './responder.ts';

/** How a request goes from step to step: within one call where it can, and to its failure where a step throws. */
export interface Steps {
  /** Takes a step of a request that is not answered yet. */
  attempt(exchange: Exchange, step: (exchange: Exchange) => void): void;
  /** Goes on with a value within the call, or once it is there. */
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
