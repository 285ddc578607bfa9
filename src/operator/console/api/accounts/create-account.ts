import Type from 'typebox';
import { defineConsoleOperation } from '../../operation.ts';
import { planFields, readPlanFields } from './plan-fields.ts';

/** Creates an account without a key. */
export const createAccount = defineConsoleOperation({
  method: 'POST',
  path: '/accounts',
  body: Type.Object({ account: Type.String({ minLength: 1, maxLength: 200 }), ...planFields }),

  async handle({ body: { account, ...plan }, signedIn }, { actAs }) {
    await actAs(signedIn).accounts.create(account, readPlanFields(plan));
    return { account };
  },
});
