-- The roles of a Supabase project. They belong to the whole server: another database on it may have made them, or may be
-- making them right now. Only a superuser can make service_role; one may run this file beforehand.

do $$
declare
  wanted record;
begin
  for wanted in select * from (values
    ('anon', ''), ('authenticated', ''), ('service_role', 'bypassrls'), ('supabase_auth_admin', '')
  ) as role (name, more) loop
    begin
      if not exists (select from pg_roles where rolname = wanted.name) then
        execute format('create role %I nologin noinherit %s', wanted.name, wanted.more);
      end if;
    exception when duplicate_object or unique_violation then
      null;
    end;
    -- The backend switches to one of these roles for each request.
    if not pg_has_role(current_user, wanted.name, 'member') then
      execute format('grant %I to current_user', wanted.name);
    end if;
  end loop;
end
$$;
