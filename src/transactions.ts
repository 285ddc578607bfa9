import { changeAccount, createAccount, resetAccountLimits } from './accounts/account-changes.ts';
import { deleteAccount } from './accounts/delete-account.ts';
import { createOwnKey, issueKey, revokeKey, rotateKey } from './accounts/key-changes.ts';
import { writeUses } from './accounts/key-rows.ts';
import { putCategory, removeCategory } from './categories/categories.ts';
import { deleteExpired } from './events/expire-events.ts';
import { sequenceCopied } from './events/sequence-events.ts';
import { liftBan } from './limits/bans.ts';
import { writeConduct, writeWindows } from './limits/memory/counter-store.ts';
import { changeLog } from './observability/log-changes.ts';
import { addOperator, removeOperator } from './operator/operators.ts';
import {
  addLink,
  addPass,
  addToken,
  endAllSessions,
  endSession,
  endSessions,
  openSession,
  takePass,
} from './operator/session-changes.ts';
import { closeOrder, expireGiven } from './orders/close-order.ts';
import { placeOrder } from './orders/place-order.ts';
import { addOnePet, addPetByHand, addPetOnce, editPet } from './pets/catalogue.ts';
import type { TransactionList } from './storage/database.ts';
import { addRequests } from './usage/request-rows.ts';
import { addStrangers } from './usage/strangers.ts';
import { addHours } from './usage/usage.ts';
import { noteAttempt } from './webhooks/attempt-rows.ts';
import {
  addWebhook,
  changeWebhook,
  disableWebhooksOfKey,
  removeWebhook,
  rotateSecret,
} from './webhooks/change-webhook.ts';
import { requestMessage } from './webhooks/requested-messages.ts';

/** All transactions of the service. Only these can be run (`Database.transact`), because SQLite's writer has them. */
export const transactions = {
  addHours,
  addLink,
  addOnePet,
  addOperator,
  addPass,
  addPetByHand,
  addPetOnce,
  addRequests,
  addStrangers,
  addToken,
  addWebhook,
  changeAccount,
  changeLog,
  changeWebhook,
  closeOrder,
  createAccount,
  createOwnKey,
  deleteAccount,
  deleteExpired,
  disableWebhooksOfKey,
  editPet,
  endAllSessions,
  endSession,
  endSessions,
  expireGiven,
  issueKey,
  liftBan,
  noteAttempt,
  openSession,
  placeOrder,
  putCategory,
  removeCategory,
  removeOperator,
  removeWebhook,
  requestMessage,
  resetAccountLimits,
  revokeKey,
  rotateKey,
  rotateSecret,
  sequenceCopied,
  takePass,
  writeConduct,
  writeUses,
  writeWindows,
} satisfies TransactionList;

type Listed = typeof transactions;

declare module './storage/database.ts' {
  interface Transactions extends Listed {}
}
