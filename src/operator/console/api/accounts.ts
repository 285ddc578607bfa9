import Type, { type Static } from 'typebox';
import { readAccountState } from '../../../accounts/account-state.ts';
import { toPartnerKey } from '../../../accounts/key-state.ts';
import { dayMs } from '../../../clock.ts';
import { AppError } from '../../../errors.ts';
import { limitMax, type Plan, planNames, resolvePlan } from '../../../plans/plan.ts';
import { enumField, wholeNumberField } from '../../../schema.ts';
import { listUsageByAccount, sumUsage, usageOrders } from '../../../usage/usage.ts';
import { webhooksMax } from '../../../webhooks/webhook.ts';
import { defineConsoleOperation } from '../operation.ts';
import { beforeField, pageRows, textFilter } from './fields.ts';
import { toShownWebhook } from './webhooks.ts';

const noRequests = { requests: 0, refused: 0, errors: 0 };

/**
 * Returns a page of the accounts with their requests of the last 24 hours. A filter by the start of a name orders them by
 * name. An order by a count gives one page, of the accounts with the highest counts.
 */
const listAccounts = defineConsoleOperation({
  method: 'GET',
  path: '/accounts',
  query: Type.Object({
    name: textFilter,
    sort: Type.Optional(enumField(['newest', 'name', ...usageOrders], 'The order.')),
    before: beforeField,
  }),

  async handle({ query: { name: start, sort = 'newest', before = null } }, { accounts, database, clock }) {
    const sinceMs = clock() - dayMs;
    const by = start === undefined ? usageOrders.find((order) => order === sort) : undefined;
    if (by !== undefined) {
      const used = await listUsageByAccount(database, sinceMs, by, pageRows);
      const counts = new Map(used.map(({ account, ...rest }) => [account, rest]));
      const found = await accounts.listNamed([...counts.keys()]);
      return { items: found.map((item) => ({ ...item, ...counts.get(item.account) })), next: null };
    }
    const order = start === undefined && sort !== 'name' ? 'newest' : 'name';
    const { items, next } = await accounts.listPage({
      limit: pageRows,
      order,
      start: start ?? '',
      firstId: before,
    });
    const ids = items.map(({ id }) => id);
    const counts = await sumUsage(database, sinceMs, ids);
    return { items: items.map((item) => ({ ...item, ...(counts.get(item.id) ?? noRequests) })), next };
  },
});

/**
 * Returns everything that the page of an account shows: plan, rate limit windows, usage by hour, open holds, webhooks
 * and a page of keys, each with the end of its ban.
 */
const showAccount = defineConsoleOperation({
  method: 'GET',
  path: '/accounts/{account}',
  query: Type.Object({ keysFrom: Type.Optional(Type.String({ pattern: '^key_[0-9A-Za-z]{16}$' })) }),

  async handle({ params: { account = '' }, query: { keysFrom = null } }, services) {
    const { keyring, allWebhooks, eventIds, clock } = services;
    const state = await readAccountState(services, account);
    const [keyPage, webhooks, oldest] = await Promise.all([
      keyring.listPage(state.id, pageRows, keysFrom),
      allWebhooks.listPage({ limit: Number(webhooksMax), account, status: null, newestId: null }),
      allWebhooks.readOldest(),
    ]);
    return {
      nowMs: clock(),
      ...state,
      keys: keyPage.items.map((key) => ({ ...toPartnerKey(key), bannedUntilMs: key.bannedUntilMs })),
      nextKey: keyPage.next,
      webhooks: webhooks.items.map((webhook) => toShownWebhook(webhook, eventIds)),
      oldest: eventIds.write(oldest),
    };
  },
});

const limitField = () => wholeNumberField('A limit.', { minimum: 1, maximum: limitMax });

/** The fields of a plan. Only `enterprise` accepts the numbers. */
const planFields = {
  plan: enumField(planNames, 'The plan.'),
  perMinute: Type.Optional(limitField()),
  perDay: Type.Optional(limitField()),
  openHolds: Type.Optional(limitField()),
};
const PlanFields = Type.Object(planFields);

/** Returns the plan of a form. Throws `invalid_body` if the numbers are not valid for the plan. */
function readPlanFields({ plan, perMinute, perDay, openHolds }: Static<typeof PlanFields>): Plan {
  const given = Object.entries({ perMinute, perDay, openHolds })
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => [name, Number(value)]);
  const resolved = resolvePlan(plan, Object.fromEntries(given));
  if ('problem' in resolved) throw new AppError('invalid_body', resolved.problem);
  return resolved;
}

const nameField = () => Type.String({ minLength: 1, maxLength: 200 });

/** Creates an account without a key. */
const createAccount = defineConsoleOperation({
  method: 'POST',
  path: '/accounts',
  body: Type.Object({ account: nameField(), ...planFields }),

  async handle({ body: { account, ...plan }, changes }) {
    await changes.accounts.create(account, readPlanFields(plan));
    return { account };
  },
});

const setPlan = defineConsoleOperation({
  method: 'PUT',
  path: '/accounts/{account}/plan',
  body: PlanFields,
  handle: ({ params: { account = '' }, body, changes }) =>
    changes.accounts.setPlan(account, readPlanFields(body)),
});

/** Sets limits of one account alone, for some days or for good. */
const setLimits = defineConsoleOperation({
  method: 'PUT',
  path: '/accounts/{account}/limits',
  body: Type.Object({
    perMinute: limitField(),
    perDay: limitField(),
    days: Type.Optional(wholeNumberField('For how many days.', { minimum: 1, maximum: 3_650 })),
  }),

  async handle({ params: { account = '' }, body: { perMinute, perDay, days }, changes }, { clock }) {
    const limits = { perMinute: Number(perMinute), perDay: Number(perDay) };
    const untilMs = days === undefined ? null : clock() + Number(days) * dayMs;
    await changes.accounts.setLimits(account, limits, untilMs);
  },
});

const renameAccount = defineConsoleOperation({
  method: 'PUT',
  path: '/accounts/{account}/name',
  body: Type.Object({ name: nameField() }),

  async handle({ params: { account = '' }, body: { name }, changes }) {
    await changes.accounts.rename(account, name);
    return { account: name };
  },
});

/** Deletes an account for good. `confirm` is its name once more. */
const deleteAccount = defineConsoleOperation({
  method: 'POST',
  path: '/accounts/{account}/delete',
  body: Type.Object({
    confirm: Type.String({ maxLength: 200 }),
    keepDays: Type.Optional(
      wholeNumberField('How old completed orders must be.', { minimum: 1, maximum: 36_500 }),
    ),
  }),

  async handle({ params: { account = '' }, body: { confirm, keepDays }, changes }) {
    if (confirm !== account)
      throw new AppError('invalid_body', `confirm: type the name of the account, "${account}"`);
    return await changes.accounts.delete(account, keepDays === undefined ? null : Number(keepDays));
  },
});

/** An operation without a body. */
function actBy(path: string, act: 'suspend' | 'resume' | 'resetLimits') {
  return defineConsoleOperation({
    method: 'POST',
    path: `/accounts/{account}/${path}`,
    handle: ({ params: { account = '' }, changes }) => changes.accounts[act](account),
  });
}

export const accountOperations = [
  listAccounts,
  showAccount,
  createAccount,
  setPlan,
  setLimits,
  renameAccount,
  deleteAccount,
  actBy('reset-limits', 'resetLimits'),
  actBy('suspend', 'suspend'),
  actBy('resume', 'resume'),
];
