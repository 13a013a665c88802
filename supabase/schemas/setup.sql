-- The data API exposes the schema public. Tables and functions for internal use are in the schema private.
create schema if not exists private;
create schema if not exists extensions;
create extension if not exists pgcrypto with schema extensions;
create extension if not exists pg_trgm with schema extensions;

revoke all on schema private from public;
grant usage on schema private to authenticated, service_role, supabase_auth_admin;

-- Revokes default privileges. By default, everyone can execute new functions, and Supabase's roles get all privileges.
-- Each schema file grants the privileges that its objects need.
alter default privileges revoke execute on functions from public;
alter default privileges in schema public revoke all on tables from anon, authenticated, service_role;
alter default privileges in schema public revoke all on sequences from anon, authenticated, service_role;
alter default privileges in schema public revoke execute on functions from anon, authenticated, service_role;

-- Raises an error with the SQLSTATE PT<status> if the condition is true. The data API responds with this HTTP status.
create function private.reject_if(condition boolean, status integer, message text) returns void
language plpgsql set search_path = '' as $$
begin
  if condition then
    raise exception using errcode = 'PT' || status, message = reject_if.message;
  end if;
end
$$;
