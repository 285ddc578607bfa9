import Type from 'typebox';
import { defineConsoleOperation } from '../../operation.ts';
import { planFields, readPlanFields } from './plan-fields.ts';

export const setPlan = defineConsoleOperation({
  method: 'PUT',
  path: '/accounts/{account}/plan',
  body: Type.Object(planFields),

  async handle({ params, body, signedIn }, { actAs }) {
    await actAs(signedIn).accounts.setPlan(params['account'] ?? '', readPlanFields(body));
  },
});

export const renameAccount = defineConsoleOperation({
  method: 'PUT',
  path: '/accounts/{account}/name',
  body: Type.Object({ name: Type.String({ minLength: 1, maxLength: 200 }) }),

  async handle({ params, body: { name }, signedIn }, { actAs }) {
    await actAs(signedIn).accounts.rename(params['account'] ?? '', name);
    return { account: name };
  },
});

export const suspendAccount = defineConsoleOperation({
  method: 'POST',
  path: '/accounts/{account}/suspend',

  async handle({ params, signedIn }, { actAs }) {
    await actAs(signedIn).accounts.suspend(params['account'] ?? '');
  },
});

export const resumeAccount = defineConsoleOperation({
  method: 'POST',
  path: '/accounts/{account}/resume',

  async handle({ params, signedIn }, { actAs }) {
    await actAs(signedIn).accounts.resume(params['account'] ?? '');
  },
});
