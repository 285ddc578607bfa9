import type { Registry } from 'prom-client';
import { expose } from '../observability/metrics.ts';
import type { ReadyAnswers } from './ready-answers.ts';

/** Ready answers that also show how many were found and how many had to be made. */
export function countReadyAnswers(ready: ReadyAnswers, registry: Registry): ReadyAnswers {
  let found = 0;
  let made = 0;

  expose(
    registry,
    {
      name: 'ready_answers_total',
      type: 'counter',
      help: 'Answers to reads, found ready in memory or made of the store.',
    },
    () => [
      { labels: { source: 'memory' }, value: found },
      { labels: { source: 'store' }, value: made },
    ],
  );

  return {
    find(target) {
      const answer = ready.find(target);
      if (answer !== null) found += 1;
      return answer;
    },
    keep(target, answer, lifetime, stamp) {
      made += 1;
      ready.keep(target, answer, lifetime, stamp);
    },
  };
}
