import { renameAccount, resumeAccount, setPlan, suspendAccount } from './change-account.ts';
import { createAccount } from './create-account.ts';
import { createKey, revokeKey, rotateKey } from './keys.ts';
import { listAccounts } from './list-accounts.ts';
import { showAccount } from './show-account.ts';

export const accountOperations = [
  listAccounts,
  showAccount,
  createAccount,
  setPlan,
  renameAccount,
  suspendAccount,
  resumeAccount,
  createKey,
  rotateKey,
  revokeKey,
];
