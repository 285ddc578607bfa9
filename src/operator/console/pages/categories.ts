import { html } from 'htm/preact';
import { h } from 'preact';
import { useActs } from './acts.ts';
import { type AnswerOf, callApi, type QueryOf } from './api.ts';
import { ActDialog, type Closing, useDialog } from './dialog.ts';
import { Field, type Form } from './fields.ts';
import { PageHead, Pager, showLoaded } from './parts.ts';
import { useResource } from './resource.ts';
import { linkTo } from './routing.ts';
import { type Column, describeEmpty, Table } from './table.ts';

const parts = ['categories'];

type Category = AnswerOf<'GET /categories'>['items'][number];

const none = 'No category has a name yet. “Name a category” gives a number its name.';

export function Categories({ query }: { readonly query: QueryOf<'GET /categories'> }) {
  const categories = useResource('GET /categories', query);
  const dialog = useDialog();
  const act = useActs();
  const onDone = categories.reload;
  const name = (category: Category | null) =>
    dialog.open((own) => h(NameDialog, { ...own, category, onDone }));
  const remove = (category: Category) => dialog.open((own) => h(RemoveDialog, { ...own, category, onDone }));
  const columns: readonly Column<Category>[] = [
    {
      title: 'Number',
      isNumber: true,
      cell: ({ id }) => html`<a href=${linkTo(['animals'], { categoryId: id })}>${id}</a>`,
    },
    { title: 'Name', cell: (category) => html`<span class="text">${category.name}</span>` },
    {
      title: 'Actions',
      needs: ['PUT /categories/{categoryId}', 'DELETE /categories/{categoryId}'],
      cell: (category) => html`<div class="row-acts">
        ${act('PUT /categories/{categoryId}', {
          label: 'Rename',
          name: `Rename the category ${category.id}`,
          onClick: () => name(category),
        })}
        ${act('DELETE /categories/{categoryId}', {
          label: 'Remove',
          name: `Remove the name of the category ${category.id}`,
          onClick: () => remove(category),
        })}
      </div>`,
    },
  ];
  return html`
    <${PageHead} title="Category names">
      ${act('PUT /categories/{categoryId}', { label: 'Name a category', kind: 'main', onClick: () => name(null) })}
    <//>
    <p class="quiet">
      A name is a label for the number of a category. Animals keep the number if the name is removed.
    </p>
    ${showLoaded(
      categories,
      ({ items, next }) => html`
        <${Table} caption="Categories" columns=${columns} rows=${items} empty=${describeEmpty(parts, query, 'names', none)} />
        <${Pager} parts=${parts} query=${query} next=${next} />
      `,
    )}
    ${dialog.shown}
  `;
}

interface NameDialogProps extends Closing {
  /** Null: the operator also enters the number. */
  readonly category: Category | null;
  readonly onDone: () => void;
}

function NameDialog({ category, ...own }: NameDialogProps) {
  const act = ({ id = category?.id ?? '', name = '' }: Form) =>
    callApi('PUT /categories/{categoryId}', { categoryId: id.trim() }, { name });
  const title = category === null ? 'Name a category' : `Rename the category ${category.id}`;
  const notice = ({ id, name }: Category) => `The category ${id} is named ${name}.`;
  return html`<${ActDialog} title=${title} label="Save" act=${act} notice=${notice} ...${own}>
    ${
      category === null &&
      html`<${Field} id="category-id" label="Number">
        <input id="category-id" name="id" inputmode="numeric" required />
      <//>`
    }
    <${Field} id="category-name" label="Name">
      <input id="category-name" name="name" value=${category?.name ?? ''} maxlength="510" required />
    <//>
  <//>`;
}

interface RemoveDialogProps extends Closing {
  readonly category: Category;
  readonly onDone: () => void;
}

function RemoveDialog({ category: { id, name }, ...own }: RemoveDialogProps) {
  return html`<${ActDialog}
    title=${`Remove the name of the category ${id}?`}
    label=${`Remove the name of ${id}`}
    isDangerous
    act=${() => callApi('DELETE /categories/{categoryId}', { categoryId: id })}
    notice=${`The name of the category ${id} is removed.`}
    ...${own}
  >
    <p>It is called <strong class="text">${name}</strong>. Its animals keep the number ${id}.</p>
  <//>`;
}
