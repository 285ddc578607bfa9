import { html } from 'htm/preact';
import { type ComponentChildren, h } from 'preact';
import { useRef } from 'preact/hooks';
import { useActs } from './acts.ts';
import { capitalise, type Input, PetInput } from './animal-fields.ts';
import { Category } from './animals.ts';
import { type AnswerOf, ApiFailure, callApi } from './api.ts';
import { ActDialog, type Closing, useDialog } from './dialog.ts';
import type { Form } from './fields.ts';
import { notify } from './notices.ts';
import { OrderTable } from './orders.ts';
import { type Fact, Facts, PageHead, State, showOne } from './parts.ts';
import { readChanges } from './read-inputs.ts';
import { useResource } from './resource.ts';
import { goTo } from './routing.ts';
import { useDeclared } from './session.ts';

type Pet = AnswerOf<'GET /pets/{petId}'>['pet'];

/** How the page shows a field. It shows other fields as text. */
const views: Readonly<Partial<Record<Input['field'], (pet: Pet) => ComponentChildren>>> = {
  categoryId: (pet) => html`<${Category} ...${pet} />`,
  status: ({ status }) => html`<${State} state=${status} />`,
};

export function Animal({ id }: { readonly id: string }) {
  const animal = useResource('GET /pets/{petId}', { petId: id });
  const { petInputs } = useDeclared();
  const dialog = useDialog();
  const act = useActs();
  const onDone = animal.reload;
  const edit = (pet: Pet, tag: string) => dialog.open((own) => h(EditDialog, { ...own, pet, tag, onDone }));
  const remove = (pet: Pet) => dialog.open((own) => h(DeleteDialog, { ...own, pet }));
  return showOne(
    'animal',
    id,
    animal,
    ({ pet, tag, orders }, now) => html`
      <${PageHead} title=${`${pet.name} (animal ${pet.id})`}>
        ${act('PATCH /pets/{petId}', { label: 'Edit', onClick: () => edit(pet, tag) })}
        ${act('DELETE /pets/{petId}', { label: 'Delete', kind: 'danger', onClick: () => remove(pet) })}
      <//>
      <${Facts} facts=${listFacts(pet, petInputs)} />
      <section aria-labelledby="orders">
        <h2 id="orders">Newest orders</h2>
        <${OrderTable} orders=${orders} now=${now} onChange=${onDone} empty="Nobody has ordered this animal." />
      </section>
      ${dialog.shown}
    `,
  );
}

function listFacts(pet: Pet, inputs: readonly Input[]): readonly Fact[] {
  const given = inputs.filter(({ field }) => pet[field] !== undefined);
  return given.map(({ field, label }) => [
    capitalise(label),
    views[field]?.(pet) ?? html`<span class="text">${pet[field]}</span>`,
  ]);
}

interface EditDialogProps extends Closing {
  readonly pet: Pet;
  /** The `ETag` of the animal as the page shows it. */
  readonly tag: string;
  readonly onDone: () => void;
}

/**
 * Sends only the fields that the operator has changed. If somebody else has changed the animal, the dialog says what it is
 * now and keeps what was typed. The next attempt replaces the animal as it is then.
 */
function EditDialog({ pet, tag, ...own }: EditDialogProps) {
  const { petInputs } = useDeclared();
  const seen = useRef(tag);
  const { id: petId } = pet;
  async function act(form: Form) {
    const changes = readChanges(petInputs, pet, form);
    try {
      await callApi('PATCH /pets/{petId}', { petId }, { tag: seen.current, ...changes });
    } catch (thrown) {
      const isConflict = thrown instanceof ApiFailure && thrown.code === 'precondition_failed';
      if (!isConflict) throw thrown;
      const now = await callApi('GET /pets/{petId}', { petId });
      seen.current = now.tag;
      throw new Error(describeConflict(pet, now.pet, petInputs));
    }
  }
  return html`<${ActDialog}
    title=${`Edit the animal ${petId}`}
    label="Save"
    act=${act}
    notice=${`The animal ${petId} is changed.`}
    ...${own}
  >
    ${petInputs.map((input) => html`<${PetInput} key=${input.field} input=${input} value=${pet[input.field]} />`)}
  <//>`;
}

function describeConflict(before: Pet, now: Pet, inputs: readonly Input[]): string {
  const differing = inputs.filter(({ field }) => before[field] !== now[field]);
  const changes = differing.map(({ field, label }) => `${label} is now "${now[field] ?? ''}"`).join(', ');
  return [
    `Somebody else has changed this animal since you opened it${changes && `: ${changes}`}.`,
    'Your entries are kept. Save again to apply the fields that you have changed,',
    'or go back to leave the animal as it is now.',
  ].join(' ');
}

interface DeleteDialogProps extends Closing {
  readonly pet: Pet;
}

function DeleteDialog({ pet: { id, name }, ...own }: DeleteDialogProps) {
  function finish() {
    notify(`The animal ${id} is deleted.`);
    goTo(['animals']);
  }
  return html`<${ActDialog}
    title=${`Delete the animal ${id}?`}
    label=${`Delete ${id}`}
    isDangerous
    act=${() => callApi('DELETE /pets/{petId}', { petId: id })}
    ...${own}
    onDone=${finish}
  >
    <p>
      Its name is <strong class="text">${name}</strong>. This cannot be undone. The number of the animal is never used
      again.
    </p>
  <//>`;
}
