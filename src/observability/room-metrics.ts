import type { Registry } from 'prom-client';
import { secondMs } from '../clock.ts';
import { beginsBan, type Usage } from '../limits/rules/decision.ts';
import { type PlanName, planNames } from '../plans/plan.ts';
import type { WebhookLag } from '../webhooks/operator-webhooks.ts';
import { attemptFailures } from '../webhooks/webhook.ts';
import { expose, labelled } from './metrics.ts';

/** Exposes how long events wait for their position in the feed. Returns the function that sets the latest wait in ms. */
export function exposeFeedLag(registry: Registry): (ms: number) => void {
  let lastMs = 0;
  const help =
    'Longest time that an event waited for its position in the feed, at the last check of this instance.';
  expose(registry, 'gauge', 'event_lag_seconds', help, () => lastMs / secondMs);
  return (ms) => {
    lastMs = Math.max(0, ms);
  };
}

const statusClasses = ['1xx', '2xx', '3xx', '4xx', '5xx'] as const;

/** Exposes the delivery of events. `isSending` returns true if this instance is the sender. */
export function exposeWebhooks(registry: Registry, isSending: () => boolean) {
  const attempts = new Map<string, number>([...statusClasses, ...attemptFailures].map((label) => [label, 0]));
  let shown: WebhookLag | null = null;
  let unreadable = 0;

  const attemptsHelp = 'Attempts to send to a webhook.';
  expose(registry, 'counter', 'webhook_attempts_total', attemptsHelp, () => labelled('result', attempts));
  const senderHelp = '1 while this instance sends to webhooks, else 0.';
  expose(registry, 'gauge', 'webhook_sender', senderHelp, isSending);
  const lagHelp = 'Age of the next event to send to a webhook, for the webhooks that lag most.';
  const findLag = () => (isSending() ? shown : null);
  expose(registry, 'gauge', 'webhook_lag_seconds', lagHelp, () =>
    (findLag()?.farthest ?? []).map(({ id, behindMs }) => ({
      labels: { webhook: id },
      value: Math.max(0, behindMs) / secondMs,
    })),
  );
  const disabledHelp = 'Disabled webhooks, by the reason.';
  expose(registry, 'gauge', 'webhooks_disabled', disabledHelp, () =>
    labelled('because', Object.entries(findLag()?.disabled ?? {})),
  );
  const unreadableHelp = 'Enabled webhooks that get no events, because no key decrypts their secrets.';
  expose(registry, 'gauge', 'webhook_secrets_unreadable', unreadableHelp, () => unreadable);

  return {
    /** `result` is the HTTP status, or the reason why there was no response. */
    noteAttempt(result: string): void {
      const label = /^\d/.test(result) ? `${result.charAt(0)}xx` : result;
      attempts.set(label, (attempts.get(label) ?? 0) + 1);
    },
    showLag(lag: WebhookLag): void {
      shown = lag;
    },
    showUnreadable(count: number): void {
      unreadable = count;
    },
  };
}

interface Tally {
  readonly plan: PlanName | 'none';
  readonly verdicts: Record<Usage['verdict'], number>;
  bans: number;
}

/** Exposes verdicts and new bans by plan. Returns their counter. Without a valid key, the plan is `none`. */
export function exposeVerdicts(registry: Registry): (usage: Usage, plan: Tally['plan']) => void {
  const tallies = ([...planNames, 'none'] as const).map(newTally);
  const byPlan = new Map(tallies.map((tally) => [tally.plan, tally]));

  const help = 'Requests by plan and by verdict of the limits.';
  expose(registry, 'counter', 'limit_verdicts_total', help, () =>
    tallies.flatMap(({ plan, verdicts }) =>
      Object.entries(verdicts).map(([verdict, value]) => ({ labels: { plan, verdict }, value })),
    ),
  );
  const ofKeys = tallies.filter(({ plan }) => plan !== 'none');
  expose(registry, 'counter', 'bans_begun_total', 'Bans of keys that began.', () =>
    ofKeys.map(({ plan, bans }) => ({ labels: { plan }, value: bans })),
  );

  return (usage, plan) => {
    const tally = byPlan.get(plan) as Tally;
    tally.verdicts[usage.verdict] += 1;
    if (beginsBan(usage)) tally.bans += 1;
  };
}

function newTally(plan: Tally['plan']): Tally {
  return { plan, verdicts: { passed: 0, refused: 0, banned: 0 }, bans: 0 };
}
