import type { Registry } from 'prom-client';
import { type Clock, secondMs } from '../clock.ts';
import { attemptFailures } from '../webhooks/webhook.ts';
import { expose } from './metrics.ts';

/** Maximum number of webhooks in `webhook_lag_seconds`: those with the largest lag. */
const shownWebhooksMax = 20;

const statusClasses = ['1xx', '2xx', '3xx', '4xx', '5xx'] as const;

export interface WebhookMetrics {
  /** Counts an attempt. `result` is the HTTP status, or the reason why there was no response. */
  noteAttempt(result: string): void;
  /** Sets the time of the next event to send to a webhook. Null if the webhook has received all events. */
  notePending(webhookId: string, atMs: number | null): void;
  /** Removes all webhooks except the given ones. The removed webhooks are disabled or deleted. */
  keepOnly(webhookIds: ReadonlySet<string>): void;
}

/** Exposes the delivery of events. `isSending` returns true if this instance is the sender. */
export function exposeWebhooks(registry: Registry, clock: Clock, isSending: () => boolean): WebhookMetrics {
  const attempts = new Map<string, number>([...statusClasses, ...attemptFailures].map((label) => [label, 0]));
  const pending = new Map<string, number>();

  expose(
    registry,
    { name: 'webhook_attempts_total', type: 'counter', help: 'Attempts to send to a webhook.' },
    () => [...attempts].map(([result, value]) => ({ labels: { result }, value })),
  );
  const senderHelp = '1 while this instance sends to webhooks, else 0.';
  expose(registry, { name: 'webhook_sender', type: 'gauge', help: senderHelp }, () => [
    { labels: {}, value: Number(isSending()) },
  ]);
  const lagHelp = `Age of the next event to send to a webhook, for the ${shownWebhooksMax} webhooks that lag most.`;
  expose(registry, { name: 'webhook_lag_seconds', type: 'gauge', help: lagHelp }, () => {
    if (!isSending()) pending.clear();
    const worst = [...pending].toSorted(([, one], [, other]) => one - other).slice(0, shownWebhooksMax);
    return worst.map(([webhook, atMs]) => ({
      labels: { webhook },
      value: Math.max(0, clock() - atMs) / secondMs,
    }));
  });

  return {
    noteAttempt(result) {
      const label = toLabel(result);
      attempts.set(label, (attempts.get(label) ?? 0) + 1);
    },
    notePending(webhookId, atMs) {
      if (atMs === null) pending.delete(webhookId);
      else pending.set(webhookId, atMs);
    },
    keepOnly(webhookIds) {
      for (const webhookId of pending.keys()) if (!webhookIds.has(webhookId)) pending.delete(webhookId);
    },
  };
}

/** Returns the class of an HTTP status, such as `2xx`, or the reason unchanged. */
function toLabel(result: string): string {
  return /^\d/.test(result) ? `${result.charAt(0)}xx` : result;
}
