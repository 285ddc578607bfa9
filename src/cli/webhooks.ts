import { OperatorError, UsageError } from '../errors.ts';
import { createEventIds } from '../events/event-ids.ts';
import { toTime } from '../format.ts';
import { readSecret } from '../storage/store-facts.ts';
import type { Store } from '../store.ts';
import type { EventsLeft, ListedWebhook } from '../webhooks/operator-webhooks.ts';
import { type Attempt, readAfter, writeAfter } from '../webhooks/webhook.ts';
import { accountFilter, textId } from './arguments.ts';
import { type AppCommand, orMissing, type Printed, printLines, printTable } from './command.ts';
import { type Column, countThings, formatTime, writeLine } from './output.ts';

const listedBy = 'webhooks list';

export function addWebhooks(program: AppCommand): void {
  const webhooks = program.addGroup('webhooks', 'list, show, enable, disable, resume and replay webhooks');
  webhooks
    .addLeaf('list', 'list the webhooks of all accounts')
    .withExamples('webhooks list', 'webhooks list --json')
    .addOption(accountFilter('webhooks'))
    .doesWithStore(async ({ allWebhooks }, { account }: { readonly account?: string }) =>
      printTable(await allWebhooks.list(account ?? null), columns, toJson),
    );
  webhooks
    .addLeaf('show', 'show a webhook: its position, how far it is behind, its last attempt and its next one')
    .withExamples(`webhooks show ${example}`)
    .addArgument(textId('webhook', listedBy))
    .doesWithStore(async (store, _options, id: string) => show(store, id));
  webhooks
    .addLeaf('attempts', 'list the last attempts to send to a webhook, newest first')
    .withExamples(`webhooks attempts ${example}`, `webhooks attempts ${example} --json`)
    .addArgument(textId('webhook', listedBy))
    .doesWithStore(async ({ allWebhooks }, _options, id: string) =>
      printTable(await find(id, async () => (await allWebhooks.get(id)).attempts), attemptColumns),
    );
  for (const [name, status, effect] of [
    ['enable', 'enabled', 'it continues from its position'],
    ['disable', 'disabled', 'it keeps its position'],
  ] as const)
    webhooks
      .addLeaf(name, `${name} a webhook; ${effect}`)
      .withExamples(`webhooks ${name} ${example}`)
      .addArgument(textId('webhook', listedBy))
      .doesWithStore(async ({ allWebhooks }, _options, id: string) => {
        await allWebhooks.change(id, { status });
        return printLines({ id, status }, `${id} is ${status}`);
      });
  addResume(webhooks);
  webhooks
    .addLeaf('replay', 'set the position of a webhook, so that it gets the events after it once more')
    .withExamples(`webhooks replay ${example} --after evt_8tKq2ZmX0aLr5VnC`)
    .addArgument(textId('webhook', listedBy))
    .requiredOption('--after <event>', 'the id of an event, or now for the end of the feed')
    .doesWithStore(async ({ allWebhooks, database }, { after }: { readonly after: string }, id: string) => {
      const ids = createEventIds(await readSecret(database, 'cursor'));
      await allWebhooks.change(id, { after: readAfter(after, ids) });
      const { status } = (await allWebhooks.get(id)).webhook;
      const when = status === 'enabled' ? 'continues' : `stays disabled; "webhooks enable ${id}" continues`;
      return printLines({ id, after, status }, `${id} ${when} after ${after}`);
    });
}

const example = 'wh_8tKq2ZmX0aLr5VnC';

interface ResumeOptions {
  readonly all: boolean;
  readonly fromNow: boolean;
}

function addResume(webhooks: AppCommand): void {
  webhooks
    .addLeaf('resume', 'enable the webhooks that a restore of the store has put on hold, or one webhook')
    .withExamples('webhooks resume --all', 'webhooks resume --all --from-now', `webhooks resume ${example}`)
    .withNotes(`Each continues from its own position, and gets the events after it. After the
restore of a SQLite store, these are the events since the restore.`)
    .argument('[id]', `the id of the webhook, as shown by "${listedBy}"`)
    .option('--all', 'all webhooks that are on hold because of a restore', false)
    .option('--from-now', 'continue from the end of the feed: the events until now are not sent', false)
    .doesWithStore(async (store, options: ResumeOptions, id?: string) => {
      if (options.all === (id !== undefined)) throw new UsageError('name either a webhook or --all');
      return resume(store, id, options);
    });
}

async function resume(
  { allWebhooks }: Store,
  id: string | undefined,
  { fromNow }: ResumeOptions,
): Promise<Printed> {
  if (id !== undefined) await allWebhooks.change(id, { status: 'enabled', ...(fromNow && { after: 'now' }) });
  const all = id === undefined ? await allWebhooks.resumeAll(fromNow) : { resumed: [id], failed: [] };
  const { resumed, failed } = all;
  const from = fromNow ? 'now' : id === undefined ? 'their positions' : 'its position';
  const lost = `${countThings(failed.length, 'webhook')} not resumed: ${failed.map((one) => one.problem).join('; ')}`;
  return {
    ...printLines({ resumed, failed }, `resumed ${countThings(resumed.length, 'webhook')} from ${from}`),
    failure: failed.length === 0 ? undefined : new OperatorError(lost),
  };
}

const find = <T>(id: string, read: () => Promise<T>) =>
  orMissing(`there is no webhook "${id}": "${listedBy}" shows them all`, read);

async function show({ allWebhooks, database }: Store, id: string): Promise<Printed> {
  const { webhook, attempts, left } = await find(id, () => allWebhooks.get(id));
  const ids = createEventIds(await readSecret(database, 'cursor'));
  const { eventsBehind, behindMs, isPaused } = webhook;
  const after = writeAfter(webhook.position, ids);
  const answerStart = attempts[0]?.answerStart ?? null;
  const json = { ...toJson(webhook), isPaused, after, eventsBehind, behindMs, answerStart, left };
  const age = behindMs === null ? '' : `, the first one ${Math.round(behindMs / 1_000)} s old`;
  const lines: readonly (readonly [label: string, text: string])[] = [
    ...columns.map(({ heading, cell }) => [heading.toLowerCase(), cell(webhook)] as const),
    ['paused', isPaused ? 'yes: its account is suspended' : 'no'],
    ['after', after ?? '-'],
    ['behind', `${countThings(eventsBehind, 'event')} of all types${age}`],
    ['answer', answerStart ?? '-'],
    ['next attempt', formatTime(webhook.nextAttemptAtMs)],
    ...(left === null ? [] : [['can still get', describeLeft(left)] as const]),
  ];
  return {
    json,
    print(terminal) {
      for (const [label, text] of lines) writeLine(terminal, label.padEnd(14) + text);
    },
  };
}

function describeLeft({ events, hasMore, isPositionLost }: EventsLeft): string {
  const count = `${hasMore ? 'more than ' : ''}${countThings(events, 'event')}`;
  if (!isPositionLost) return count;
  return `${count}, but its position is lost: later events are deleted; replay it before you enable it`;
}

/** Number of characters of an answer in the table. With --json, the answer is longer. */
const shortAnswer = 40;

function shorten(answer: string | null): string {
  if (answer === null) return '-';
  const characters = [...answer];
  const start = characters.slice(0, shortAnswer).join('');
  return characters.length > shortAnswer ? `${start}…` : start;
}

function describeAttempt({ attempt, isManual }: Attempt): string {
  return `${attempt ?? '-'}${isManual ? ' by hand' : ''}`;
}

const attemptColumns: readonly Column<Attempt>[] = [
  { heading: 'AT', cell: ({ at }) => at },
  { heading: 'EVENT', cell: ({ eventId }) => eventId },
  { heading: 'RESULT', cell: ({ result }) => String(result) },
  { heading: 'ATTEMPT', cell: describeAttempt },
  { heading: 'MS', cell: ({ durationMs }) => String(durationMs), leavesAt: 1 },
  { heading: 'ANSWER', cell: ({ answerStart }) => shorten(answerStart), leavesAt: 2 },
];

function toJson({ lastAttemptAtMs, lastResult, keyId: key, ...webhook }: ListedWebhook) {
  const { id, account, url, types, status, disabledBecause } = webhook;
  const lastAttempt = lastResult === null ? null : { at: toTime(lastAttemptAtMs), result: lastResult };
  const state = { lastAttempt, nextAttemptAt: toTime(webhook.nextAttemptAtMs) };
  return { id, account, url, types, status, disabledBecause, key, ...state };
}

const columns: readonly Column<ListedWebhook>[] = [
  { heading: 'ID', cell: ({ id }) => id },
  { heading: 'ACCOUNT', cell: ({ account }) => account, leavesAt: 2 },
  {
    heading: 'STATUS',
    cell: ({ status, disabledBecause: because }) => (because === null ? status : `${status} (${because})`),
  },
  { heading: 'URL', cell: ({ url }) => url },
  { heading: 'KEY', cell: ({ keyId }) => keyId, leavesAt: 4 },
  { heading: 'LAST ATTEMPT', cell: ({ lastAttemptAtMs }) => formatTime(lastAttemptAtMs), leavesAt: 3 },
  { heading: 'RESULT', cell: ({ lastResult }) => lastResult ?? '-', leavesAt: 1 },
  { heading: 'TYPES', cell: ({ types }) => types.join(), leavesAt: 5 },
];
