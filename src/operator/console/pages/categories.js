import { callApi, formatQuery } from './api.js';
import { ActDialog, useDialog } from './dialog.js';
import { html } from './html.js';
import { Field, Loaded, PageHead, Pager, Table } from './parts.js';
import { useResource } from './resource.js';
import { linkTo } from './routing.js';

const parts = ['categories'];

export function Categories({ query }) {
  const categories = useResource(`/categories${formatQuery(query)}`);
  const dialog = useDialog();
  const { reload } = categories;
  const name = (category) => dialog.open(html`<${NameDialog} category=${category} onDone=${reload} />`);
  const remove = (category) => dialog.open(html`<${RemoveDialog} category=${category} onDone=${reload} />`);
  const columns = [
    {
      title: 'Number',
      isNumber: true,
      cell: ({ id }) => html`<a href=${linkTo(['animals'], { categoryId: id })}>${id}</a>`,
    },
    { title: 'Name', cell: (category) => html`<span class="text">${category.name}</span>` },
    {
      title: 'Actions',
      cell: (category) =>
        html`<div class="row-acts">
          <button type="button" aria-label=${`Rename the category ${category.id}`} onClick=${() => name(category)}>Rename</button>
          <button type="button" aria-label=${`Remove the name of the category ${category.id}`} onClick=${() => remove(category)}>Remove</button>
        </div>`,
    },
  ];
  return html`<${PageHead} title="Category names">
      <button type="button" class="main" onClick=${() => name(null)}>Name a category</button>
    <//>
    <p class="quiet">A name is a label for the number of a category. Animals keep the number if the name is removed.</p>
    <${Loaded} resource=${categories}>
      ${({ items, next }) =>
        html`<${Table} caption="Categories" columns=${columns} rows=${items} empty="No category has a name yet." />
          <${Pager} parts=${parts} query=${query} next=${next} />`}
    <//>
    ${dialog.shown}`;
}

function NameDialog({ category, ...own }) {
  async function act({ id = category?.id ?? '', name = '' }) {
    return await callApi('PUT', `/categories/${encodeURIComponent(id.trim())}`, { name });
  }
  const title = category === null ? 'Name a category' : `Rename the category ${category.id}`;
  return html`<${ActDialog}
    title=${title}
    label="Save"
    act=${act}
    notice=${({ id, name }) => `The category ${id} is named ${name}.`}
    ...${own}
  >
    ${
      category === null &&
      html`<${Field} id="category-id" label="Number"><input id="category-id" name="id" inputmode="numeric" required /><//>`
    }
    <${Field} id="category-name" label="Name">
      <input id="category-name" name="name" value=${category?.name ?? ''} maxlength="510" required />
    <//>
  <//>`;
}

function RemoveDialog({ category, ...own }) {
  return html`<${ActDialog}
    title=${`Remove the name of the category ${category.id}?`}
    label=${`Remove the name of ${category.id}`}
    isDangerous
    act=${() => callApi('DELETE', `/categories/${category.id}`)}
    notice=${`The name of the category ${category.id} is removed.`}
    ...${own}
  >
    <p>It is called <strong class="text">${category.name}</strong>. Its animals keep the number ${category.id}.</p>
  <//>`;
}
