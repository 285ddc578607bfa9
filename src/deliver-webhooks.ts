import { setTimeout as sleep } from 'node:timers/promises';
import type { Registry } from 'prom-client';
import { type Clock, hourMs, minuteMs, secondMs } from './clock.ts';
import type { Config } from './config.ts';
import { isUnavailable, OperatorError } from './errors.ts';
import { createEventIds } from './events/event-ids.ts';
import type { ClockWatch } from './jobs/clock-watch.ts';
import type { JobRunner } from './jobs/job-runner.ts';
import { createLease, type Lease, renewalMs } from './jobs/lease.ts';
import type { Log } from './observability/log.ts';
import { exposeWebhooks } from './observability/room-metrics.ts';
import { redactKeys } from './observability/safe-text.ts';
import { loopback } from './setting-values.ts';
import type { Store } from './store.ts';
import { expireAttempts } from './webhooks/attempt-rows.ts';
import type { DeliveryObserver } from './webhooks/attempts.ts';
import { createDeliverer, type Deliverer } from './webhooks/deliverer.ts';
import { createPostMessage } from './webhooks/post-message.ts';
import { reviewSecrets } from './webhooks/review-secrets.ts';
import { createNetworks } from './webhooks/rules/target-address.ts';
import { createSecretBox } from './webhooks/secret-box.ts';

/** Time in ms that the whole shutdown of delivery may take, and a running attempt in it. */
const endMsMax = 3 * secondMs;
const graceMs = 2 * secondMs;

export interface DeliveryOptions {
  readonly store: Store;
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Log;
  readonly registry: Registry;
  readonly parts: AsyncDisposableStack;
  /** The secret of the store from which cursors and event ids are made. */
  readonly secret: Uint8Array;
}

/**
 * Sends events to webhooks, on one instance at a time. Returns the function that stops the sending, which may be called
 * twice. Throws OperatorError if no key decrypts the secrets of the store.
 */
export async function deliverWebhooks(
  { store: { database, allWebhooks }, config, log, registry, parts, secret }: DeliveryOptions,
  jobs: JobRunner,
  clocks: ClockWatch,
): Promise<() => Promise<void>> {
  const isDevelopment = config.environment === 'development';
  const box = createSecretBox(config.webhookSecretKeys);
  const lease = createLease(database, 'webhooks');
  const { leftMs } = lease;
  const metrics = exposeWebhooks(registry, () => leftMs() > 0);
  const deliverer = createDeliverer({
    database,
    ids: createEventIds(secret),
    box,
    post: createPostMessage({
      allowed: createNetworks(config.webhookAllowNetworks),
      shown: createNetworks(isDevelopment ? loopback : []),
      redact: redactKeys,
      allowsHttp: isDevelopment,
    }),
    observer: observe(log, metrics),
    leftMs,
    mayDisable: clocks.mayClose,
  });
  let ending: Promise<void> | null = null;
  const stop = () => {
    ending ??= endDelivery(deliverer, lease);
    return ending;
  };
  parts.defer(stop);
  const review = async () => {
    const { unreadable, lostKey } = await reviewSecrets(database, box);
    metrics.showUnreadable(unreadable);
    return lostKey;
  };
  const lostKey = await review();
  if (lostKey !== null) throw new OperatorError(`${lostKey.is}: ${lostKey.todo}`);
  const readLag = async () => {
    if (leftMs() > 0) metrics.showLag(await allWebhooks.readLag());
  };
  await lease.renew();
  await readLag();
  const expire = () => expireAttempts(database);
  jobs.start({ name: 'renew the lease of webhooks', everyMs: renewalMs, run: lease.renew });
  jobs.start({ name: 'send to webhooks', everyMs: secondMs / 4, run: deliverer.look });
  jobs.start({ name: 'read the lag of webhooks', everyMs: 5 * secondMs, run: readLag });
  jobs.start({ name: 'try the secrets of webhooks', everyMs: minuteMs, run: review });
  jobs.start({ name: 'delete old attempts of webhooks', everyMs: hourMs, run: expire, byAge: 'deletes' });
  return stop;
}

/** If the lease cannot be released, it expires. If the store hangs, the timeout ends the wait. */
async function endDelivery({ stop }: Deliverer, { release }: Lease): Promise<void> {
  const ending = stop(graceMs).then(release, () => undefined);
  await Promise.race([ending.catch(() => undefined), sleep(endMsMax, undefined, { ref: false })]);
}

function observe(log: Log, metrics: ReturnType<typeof exposeWebhooks>): DeliveryObserver {
  const sealed = new Set<string>();
  return {
    onAttempt: metrics.noteAttempt,
    onFault(webhook, err) {
      // Faults of the store have their own log lines (store-watch.ts).
      if (isUnavailable(err)) return;
      log.error({ webhook, err }, 'an attempt to send to a webhook failed unexpectedly');
    },
    onDisabled: (webhook, reason) => log.warn({ webhook }, `a webhook is disabled: ${reason}`),
    onSealed(webhook) {
      if (sealed.has(webhook)) return;
      sealed.add(webhook);
      log.error({ webhook }, 'a webhook gets no events: WEBHOOK_SECRET_KEY does not decrypt its secret');
    },
  };
}
