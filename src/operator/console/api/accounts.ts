import Type, { type Static, type TObject } from 'typebox';
import { dayMs } from '../../../clock.ts';
import { AppError } from '../../../errors.ts';
import { endRule, readEnd } from '../../../format.ts';
import { toPartnerKey } from '../../../http/api/keys.ts';
import { limitMax, type Plan, planNames, resolvePlan } from '../../../plans/plan.ts';
import { enumField, wholeNumberField } from '../../../schema.ts';
import { listUsageByAccount, sumUsage, usageOrders } from '../../../usage/usage.ts';
import { listUsageDays, readDayPage } from '../../../usage/usage-days.ts';
import { webhooksMax } from '../../../webhooks/webhook.ts';
import { answers } from '../answers.ts';
import { int64Filter, operation, pageRows, readRange, textFilter, timeFilter } from '../operation.ts';
import { toShownWebhook } from './webhooks.ts';

const noRequests = { requests: 0, refused: 0, errors: 0 };
const nameField = Type.String({ minLength: 1, maxLength: 200 });
const limitField = wholeNumberField('A limit.', { minimum: 1, maximum: limitMax });

export const accountOrders = ['newest', 'name', ...usageOrders] as const;

const listFields = {
  name: textFilter,
  sort: Type.Optional(enumField(accountOrders, 'The order.')),
  before: int64Filter,
};

/** The fields of a plan. Only `enterprise` accepts the numbers. */
const planFields = {
  plan: enumField(planNames, 'The plan.'),
  perMinute: Type.Optional(limitField),
  perDay: Type.Optional(limitField),
  openHolds: Type.Optional(limitField),
};

const limitFields = {
  perMinute: Type.Optional(limitField),
  perDay: Type.Optional(limitField),
  until: timeFilter,
};

const deleteFields = {
  confirm: Type.String({ maxLength: 200 }),
  keepDays: Type.Optional(
    wholeNumberField('How old completed orders must be.', { minimum: 1, maximum: 36_500 }),
  ),
};

const dayFields = {
  since: timeFilter,
  until: timeFilter,
  before: Type.Optional(Type.String({ maxLength: 60, pattern: '^\\d{1,15}\\.\\d{1,18}$' })),
};

/** Returns the plan of a form. Throws `invalid_body` if the numbers are not valid for the plan. */
function readPlan({ plan, ...numbers }: Static<TObject<typeof planFields>>): Plan {
  const resolved = resolvePlan(plan, numbers);
  if ('problem' in resolved) throw new AppError('invalid_body', resolved.problem);
  return resolved;
}

export const accountOperations = [
  /** Lists accounts with their requests of 24 hours. Sorted by a count, there is one page, of the highest. */
  operation(
    'listAccounts',
    'GET /accounts',
    'reader',
    { summary: 'List the accounts', fields: listFields, answer: answers.accounts },
    async (query, { accounts, database, clock }) => {
      const { name: start, sort = 'newest', before: firstId = null } = query;
      const sinceMs = clock() - dayMs;
      const by = start === undefined ? usageOrders.find((order) => order === sort) : undefined;
      if (by !== undefined) {
        const used = await listUsageByAccount(database, sinceMs, by, pageRows);
        const counts = new Map(used.map(({ account, ...rest }) => [account, rest]));
        const found = await accounts.listNamed([...counts.keys()]);
        const items = found.map((item) => ({ ...item, ...(counts.get(item.account) ?? noRequests) }));
        return { items, next: null };
      }
      const order = start === undefined && sort !== 'name' ? 'newest' : 'name';
      const page = await accounts.listPage({ limit: pageRows, order, start: start ?? '', firstId });
      const ids = page.items.map(({ id }) => id);
      const counts = await sumUsage(database, sinceMs, ids);
      const items = page.items.map((item) => ({ ...item, ...(counts.get(item.id) ?? noRequests) }));
      return { items, next: page.next };
    },
  ),

  /** Returns everything that the page of an account shows, with a page of its keys. */
  operation(
    'getAccount',
    'GET /accounts/{account}',
    'reader',
    {
      summary: 'Show an account',
      fields: { keysFrom: Type.Optional(Type.String({ maxLength: 60, pattern: '^key_[0-9A-Za-z]{16}$' })) },
      answer: answers.account,
    },
    async ({ account, keysFrom = null }, { accounts, look, keyring, allWebhooks, eventIds, clock }) => {
      const state = await accounts.readState(account, look);
      const [keyPage, webhooks, oldest] = await Promise.all([
        keyring.listPage(state.id, pageRows, keysFrom),
        allWebhooks.listPage({ limit: Number(webhooksMax), account }),
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
  ),

  /** Returns all days of an account. They are at most 398, so there is one page. */
  operation(
    'listDaysOfAccount',
    'GET /accounts/{account}/days',
    'reader',
    { summary: 'List the requests of an account by day, of 13 months', answer: answers.daysOfAccount },
    async ({ account }, { accounts, database, clock }) => {
      const nowMs = clock();
      return { nowMs, days: await listUsageDays(database, await accounts.findId(account), nowMs) };
    },
  ),

  /** Returns a page of the days of all accounts. `before` is the `next` of a page. */
  operation(
    'listUsageDays',
    'GET /usage/days',
    'reader',
    {
      summary: 'List the requests of all accounts by day, newest first',
      fields: dayFields,
      answer: answers.days,
    },
    async ({ since, until, before }, { database }) => {
      const [atMs = '', accountId = ''] = before?.split('.') ?? [];
      const first = before === undefined ? null : { atMs: Number(atMs), accountId: BigInt(accountId) };
      const { items, next } = await readDayPage(database, {
        ...readRange({ since, until }),
        limit: pageRows,
        first,
      });
      return { items, next: next && `${next.atMs}.${next.accountId}` };
    },
  ),

  operation(
    'createAccount',
    'POST /accounts',
    'admin',
    {
      summary: 'Create an account',
      fields: { account: nameField, ...planFields },
      answer: answers.accountName,
    },
    async (body, { accounts }) => {
      await accounts.create(body.account, readPlan(body));
      return { account: body.account };
    },
  ),

  operation(
    'setPlan',
    'PUT /accounts/{account}/plan',
    'admin',
    { summary: 'Move an account to another plan', fields: planFields },
    async (body, { accounts }) => accounts.setPlan(body.account, readPlan(body)),
  ),

  /** Sets limits of one account alone, for some time or for good. */
  operation(
    'setLimits',
    'PUT /accounts/{account}/limits',
    'admin',
    {
      summary: 'Set limits for an account alone',
      description:
        'One number alone keeps the other number and, without `until`, the end. `until` is a duration such as `2h`, or a time.',
      fields: limitFields,
    },
    async ({ account, perMinute, perDay, until }, { accounts, clock }) => {
      if (perMinute === undefined && perDay === undefined)
        throw new AppError('invalid_body', 'perMinute or perDay must be given');
      const untilMs = until === undefined ? undefined : readEnd(until, clock());
      if (untilMs === null) throw new AppError('invalid_body', `until must be ${endRule}`);
      const limits = {
        ...(perMinute !== undefined && { perMinute: Number(perMinute) }),
        ...(perDay !== undefined && { perDay: Number(perDay) }),
      };
      await accounts.setLimits(account, limits, untilMs);
    },
  ),

  operation(
    'renameAccount',
    'PUT /accounts/{account}/name',
    'admin',
    {
      summary: 'Rename an account',
      fields: { name: nameField },
      answer: answers.accountName,
    },
    async ({ account, name }, { accounts }) => {
      await accounts.rename(account, name);
      return { account: name };
    },
  ),

  operation(
    'deleteAccount',
    'POST /accounts/{account}/delete',
    'admin',
    {
      summary: 'Delete an account and erase its data',
      fields: deleteFields,
      answer: answers.deletion,
    },
    async (body, { accounts }) => {
      const { account, confirm, keepDays } = body;
      if (confirm !== account)
        throw new AppError('invalid_body', `confirm: type the name of the account, "${account}"`);
      return await accounts.delete(account, keepDays === undefined ? null : Number(keepDays));
    },
  ),

  operation(
    'suspendAccount',
    'POST /accounts/{account}/suspend',
    'support',
    { summary: 'Suspend an account' },
    ({ account }, { accounts }) => accounts.suspend(account),
  ),
  operation(
    'resumeAccount',
    'POST /accounts/{account}/resume',
    'support',
    { summary: 'Resume a suspended account' },
    ({ account }, { accounts }) => accounts.resume(account),
  ),
  operation(
    'resetLimits',
    'POST /accounts/{account}/reset-limits',
    'admin',
    { summary: 'Let the windows of an account start again' },
    ({ account }, { accounts }) => accounts.resetLimits(account),
  ),
];
