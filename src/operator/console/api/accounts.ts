import Type, { type Static } from 'typebox';
import { readAccountState } from '../../../accounts/administration.ts';
import { listKeyPage } from '../../../accounts/key-list.ts';
import { dayMs } from '../../../clock.ts';
import { AppError } from '../../../errors.ts';
import { limitMax, type Plan, planNames, resolvePlan } from '../../../plans/plan.ts';
import { enumField, wholeNumberField } from '../../../schema.ts';
import { listUsageByAccount, sumUsage, usageOrders } from '../../../usage/usage.ts';
import { webhooksMax } from '../../../webhooks/webhook.ts';
import { defineConsoleOperation } from '../operation.ts';
import { beforeField, pageRows, textFilter } from './fields.ts';
import { findAccount } from './keys.ts';
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
    const page = await accounts.listPage({ limit: pageRows, order, start: start ?? '', firstId: before });
    const counts = await sumUsage(
      database,
      sinceMs,
      page.items.map(({ id }) => id),
    );
    return {
      items: page.items.map((item) => ({ ...item, ...(counts.get(item.id) ?? noRequests) })),
      next: page.next,
    };
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

  async handle({ params, query: { keysFrom = null } }, services) {
    const { database, allWebhooks, eventIds, clock } = services;
    const { id, account } = await findAccount(services, params['account']);
    const [state, keyPage, webhooks, oldest] = await Promise.all([
      readAccountState(services, account),
      listKeyPage(database, id, pageRows, keysFrom, clock()),
      allWebhooks.listPage({ limit: Number(webhooksMax), account, status: null, newestId: null }),
      allWebhooks.readOldest(),
    ]);
    return {
      nowMs: clock(),
      ...state,
      keys: keyPage.items.map(({ key, bannedUntilMs }) => ({ ...key, bannedUntilMs })),
      nextKey: keyPage.next,
      webhooks: webhooks.items.map((webhook) => toShownWebhook(webhook, eventIds)),
      oldest: eventIds.write(oldest),
    };
  },
});

const numberField = () => Type.Optional(wholeNumberField('A limit.', { minimum: 1, maximum: limitMax }));

/** The fields of a plan. Only `enterprise` accepts the numbers. */
const planFields = {
  plan: enumField(planNames, 'The plan.'),
  perMinute: numberField(),
  perDay: numberField(),
  openHolds: numberField(),
};
const PlanFields = Type.Object(planFields);

/** Returns the plan of a form. Throws `invalid_body` if the numbers are not valid for the plan. */
function readPlanFields({ plan, ...numbers }: Static<typeof PlanFields>): Plan {
  const given = Object.entries(numbers)
    .filter(([name, value]) => name in planFields && value !== undefined)
    .map(([name, value]) => [name, Number(value)]);
  const resolved = resolvePlan(plan, Object.fromEntries(given));
  if ('problem' in resolved) throw new AppError('invalid_body', resolved.problem);
  return resolved;
}

/** Creates an account without a key. */
const createAccount = defineConsoleOperation({
  method: 'POST',
  path: '/accounts',
  body: Type.Object({ account: Type.String({ minLength: 1, maxLength: 200 }), ...planFields }),

  async handle({ body: { account, ...plan }, signedIn }, { actAs }) {
    await actAs(signedIn).accounts.create(account, readPlanFields(plan));
    return { account };
  },
});

const setPlan = defineConsoleOperation({
  method: 'PUT',
  path: '/accounts/{account}/plan',
  body: PlanFields,

  async handle({ params: { account = '' }, body, signedIn }, { actAs }) {
    await actAs(signedIn).accounts.setPlan(account, readPlanFields(body));
  },
});

const limitField = () => wholeNumberField('A limit.', { minimum: 1, maximum: limitMax });

/** Sets limits of one account alone, for some days or for good. */
const setLimits = defineConsoleOperation({
  method: 'PUT',
  path: '/accounts/{account}/limits',
  body: Type.Object({
    perMinute: limitField(),
    perDay: limitField(),
    days: Type.Optional(wholeNumberField('For how many days.', { minimum: 1, maximum: 3_650 })),
  }),

  async handle({ params: { account = '' }, body: { perMinute, perDay, days }, signedIn }, { actAs, clock }) {
    const limits = { perMinute: Number(perMinute), perDay: Number(perDay) };
    const untilMs = days === undefined ? null : clock() + Number(days) * dayMs;
    await actAs(signedIn).accounts.setLimits(account, limits, untilMs);
  },
});

const renameAccount = defineConsoleOperation({
  method: 'PUT',
  path: '/accounts/{account}/name',
  body: Type.Object({ name: Type.String({ minLength: 1, maxLength: 200 }) }),

  async handle({ params: { account = '' }, body: { name }, signedIn }, { actAs }) {
    await actAs(signedIn).accounts.rename(account, name);
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

  async handle({ params: { account = '' }, body: { confirm, keepDays }, signedIn }, { actAs }) {
    if (confirm !== account)
      throw new AppError('invalid_body', `confirm: type the name of the account, "${account}"`);
    return await actAs(signedIn).accounts.delete(account, keepDays === undefined ? null : Number(keepDays));
  },
});

/** An operation without a body. */
function actBy(path: string, act: 'suspend' | 'resume' | 'resetLimits') {
  return defineConsoleOperation({
    method: 'POST',
    path: `/accounts/{account}/${path}`,
    handle: ({ params: { account = '' }, signedIn }, { actAs }) => actAs(signedIn).accounts[act](account),
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
