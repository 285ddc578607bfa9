import type { Registry } from 'prom-client';
import { expose } from '../observability/metrics.ts';
import type { ReadyAnswers } from './ready-answers.ts';

/** Ready answers that also show how many were sent from memory and how many had to be made. */
export interface CountedReadyAnswers extends ReadyAnswers {
  /** To be called where one that was found is sent. */
  noteSent(): void;
}

export function countReadyAnswers(ready: ReadyAnswers, registry: Registry): CountedReadyAnswers {
  let sent = 0;
  let made = 0;

  expose(
    registry,
    {
      name: 'ready_answers_total',
      type: 'counter',
      help: 'Answers to reads, found ready in memory or made of the store.',
    },
    () => [
      { labels: { source: 'memory' }, value: sent },
      { labels: { source: 'store' }, value: made },
    ],
  );

  return {
    find: ready.find,
    noteSent() {
      sent += 1;
    },
    keep(target, answer, lifetime, stamp) {
      made += 1;
      ready.keep(target, answer, lifetime, stamp);
    },
  };
}
