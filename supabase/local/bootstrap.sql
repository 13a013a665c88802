-- What a Supabase project has before its first migration and the embedded database lacks: the roles, pgcrypto, and
-- the grants of its schemas. Tables of the public schema are granted by their own migrations.

do $$
begin
  if not exists (select from pg_roles where rolname = 'anon') then
    create role anon nologin noinherit;
    create role authenticated nologin noinherit;
    create role service_role nologin noinherit bypassrls;
    create role supabase_auth_admin nologin noinherit;
  end if;
end
$$;

create schema if not exists extensions;
create extension if not exists pgcrypto with schema extensions;

grant usage on schema public, auth, storage, extensions to anon, authenticated, service_role;
grant all on storage.objects, storage.buckets to anon, authenticated, service_role;
revoke all on all tables in schema auth from anon, authenticated, service_role;
