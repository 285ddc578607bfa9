alter table requests add column subject text;
