import Type from 'typebox';
import { hourMs } from '../../../clock.ts';
import { errorCodes } from '../../../errors.ts';
import { enumField } from '../../../schema.ts';
import { listRequests } from '../../../usage/request-rows.ts';
import { operation } from '../operation.ts';
import { int64Filter, pageRows, textFilter } from './fields.ts';

const filters = {
  account: textFilter,
  key: textFilter,
  status: Type.Optional(Type.Integer({ minimum: 200, maximum: 599 })),
  code: Type.Optional(enumField(errorCodes, 'The code of the error.')),
  hours: Type.Optional(Type.Integer({ minimum: 1, maximum: 168 })),
  id: textFilter,
  before: int64Filter,
};

export const requestOperations = [
  /** Returns a page of the requests that failed or were slow, and all error codes, which the page offers as a filter. */
  operation('GET /requests', filters, async (query, { accounts, database, clock }) => {
    const { account, key: keyId, status, code, hours, id: requestId, before: newestId = null } = query;
    const accountId = account === undefined ? undefined : await accounts.findId(account);
    const sinceMs = hours === undefined ? undefined : clock() - hours * hourMs;
    const filter = { accountId, keyId, status, code, sinceMs, requestId };
    const page = await listRequests(database, { ...filter, limit: pageRows, newestId });
    return { ...page, codes: errorCodes };
  }),
];
