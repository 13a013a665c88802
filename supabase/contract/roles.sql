-- Roles belong to the whole Postgres server, so they may already exist because of another database.
-- Only a superuser can create service_role, because service_role bypasses row-level security.

do $$
declare
  required_role record;
begin
  for required_role in select * from (values
    ('anon', ''), ('authenticated', ''), ('service_role', 'bypassrls'), ('supabase_auth_admin', '')
  ) as role (name, attributes) loop
    begin
      if not exists (select from pg_roles where rolname = required_role.name) then
        execute format('create role %I nologin noinherit %s', required_role.name, required_role.attributes);
      end if;
    exception when duplicate_object or unique_violation then
      null;
    end;
    if not pg_has_role(current_user, required_role.name, 'member') then
      execute format('grant %I to current_user', required_role.name);
    end if;
  end loop;
end
$$;
